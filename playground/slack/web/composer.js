// Where people write: Enter sends, `@` and `/` offer what there is.

import { act } from "./actions.js";
import { Completion } from "./completion.js";
import { h } from "./dom.js";
import { openMenu } from "./menu.js";
import { language, t } from "./texts.js";
import { toWire } from "./wire.js";

export class Composer {
  constructor(context, { channel, thread = "", placeholder, id = null }) {
    Object.assign(this, { context, channel, thread });
    this.field = h("textarea", { class: "compose-field", rows: "1", id, placeholder, "aria-label": placeholder, enterkeyhint: "send", maxlength: "12000" });
    this.completion = new Completion(this.field, context, !thread);
    this.element = h("form", { class: "compose", onsubmit: (event) => { event.preventDefault(); this.send(); } },
      this.completion.element, this.field,
      h("div", { class: "compose-row" },
        !thread && this.renderShortcuts(),
        h("span", { class: "faint compose-hint" }, t("send_hint")),
        h("button", { type: "submit", class: "button primary" }, t("send"))));
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("input", () => { this.grow(); this.completion.update(); });
    this.field.addEventListener("blur", () => setTimeout(() => this.completion.close(), 150));
  }

  renderShortcuts() {
    const { setting, user } = this.context;
    const made = h("button", { type: "button", class: "button quiet", "aria-haspopup": "menu", "aria-label": t("shortcuts"), title: t("shortcuts"), onclick: () => {
      const items = setting.shortcuts.map((one) => ({ label: one.name, choose: () => act("shortcut", { as: user, callback_id: one.callback_id }) }));
      const commands = setting.commands.map((one) => ({ label: one.command, note: language === "zh" ? one.hint_zh : one.hint, choose: () => this.insert(`${one.command} `) }));
      openMenu(made, [...items, ...commands]);
    } }, "⚡");
    return made;
  }

  insert(text) {
    this.field.value = text;
    this.field.focus();
    this.completion.update();
  }

  key(event) {
    if (event.isComposing || this.completion.key(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.send();
    }
  }

  async send(text = this.field.value) {
    if (!text.trim()) return;
    const where = { as: this.context.user, channel: this.channel };
    this.field.value = "";
    this.completion.close();
    this.grow();
    const isCommand = !this.thread && /^\/\w/.test(text);
    const done = isCommand
      ? await act("slash", { ...where, line: text.trim() })
      : await act("say", { ...where, text: toWire(text.trim()), thread: this.thread });
    // What did not arrive is not lost.
    if (done === null && !this.field.value) { this.field.value = text; this.grow(); }
  }

  grow() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight, 200)}px`;
  }
}
