// Forms that the app opened; the last one of the stack is shown.

import { act } from "./actions.js";
import { renderBlocks, renderText } from "./blocks.js";
import { h, replaceChildren } from "./dom.js";
import { listReachable, trapFocus } from "./focus.js";
import { Surface } from "./surface.js";
import { t } from "./texts.js";

export class Modals {
  constructor(user, live) {
    Object.assign(this, { user, live });
    this.shown = null;
    this.view = null;
  }

  update() {
    const stack = this.live.list("modal/").sort(([a], [b]) => Number(a) - Number(b)).map(([, view]) => view);
    const top = stack[stack.length - 1] ?? null;
    if (top === this.view) return;
    const isSame = top && this.view && top.id === this.view.id;
    if (!isSame) this.hide();
    this.view = top;
    if (top) this.show(isSame);
  }

  hide() {
    this.release?.();
    this.shown?.remove();
    this.shown = null;
    this.surface = null;
  }

  show(isSame) {
    const view = this.view;
    const focused = isSame ? document.activeElement?.dataset?.path : null;
    // What was typed stays when the app replaces the view by another version of it.
    this.surface = isSame ? this.surface : new Surface(this.user, this.live, "view", () => ({ view: this.view.id }));
    const form = h("form", { class: "dialog", role: "dialog", "aria-modal": "true", "aria-labelledby": "modal-title", novalidate: true,
      onsubmit: (event) => { event.preventDefault(); this.submit(); } },
    h("div", { class: "dialog-head" }, h("h2", { id: "modal-title" }, ...renderText(view.title)),
      h("button", { type: "button", class: "button quiet", "aria-label": t("close"), onclick: () => this.close() }, "✕")),
    h("div", { class: "dialog-body" }, ...renderBlocks(view.blocks, this.surface)),
    h("div", { class: "dialog-foot" },
      h("button", { type: "button", class: "button", onclick: () => this.close() }, ...(view.close ? renderText(view.close) : [t("cancel")])),
      view.submit && h("button", { type: "submit", class: "button primary" }, ...renderText(view.submit))));
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    if (!this.shown) {
      this.shown = h("div", { class: "shade" });
      document.getElementById("overlays").append(this.shown);
    } else this.release?.();
    replaceChildren(this.shown, form);
    this.release = trapFocus(form, () => this.close());
    const field = focused ? form.querySelector(`[data-path="${focused}"]`) : form.querySelector("[autofocus], .dialog-body input, .dialog-body textarea, .dialog-body select");
    (field ?? listReachable(form).at(-1))?.focus();
  }

  async submit() {
    const button = this.shown.querySelector("button[type=submit]");
    if (!button || button.disabled) return;
    button.disabled = true;
    const shown = this.shown;
    const done = await this.surface.submit();
    button.disabled = false;
    if (shown === this.shown) this.showErrors(done?.errors ?? {});
  }

  showErrors(errors) {
    let first = null;
    for (const field of this.shown.querySelectorAll(".field")) {
      const text = errors[field.dataset.blockId];
      const error = field.querySelector(".field-error");
      const input = field.querySelector("[data-path]");
      error.hidden = !text;
      error.textContent = text === "required" ? t("required") : text ?? "";
      input?.toggleAttribute("aria-invalid", Boolean(text));
      if (text && !first) first = input?.matches("input, textarea, select") ? input : input?.querySelector("input");
    }
    first?.focus();
  }

  close() {
    act("close", { as: this.user, view: this.view.id });
  }
}
