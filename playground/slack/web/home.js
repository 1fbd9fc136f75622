// The app's Home, as the app published it for this person.

import { renderBlocks } from "./blocks.js";
import { h, replaceChildren } from "./dom.js";
import { Surface } from "./surface.js";
import { t } from "./texts.js";

export class Home {
  constructor(user, live) {
    Object.assign(this, { live });
    this.view = undefined;
    this.surface = new Surface(user, live, "view", () => ({ view: this.view.id }));
    this.element = h("div", { class: "home", tabindex: "-1" });
  }

  update() {
    const view = this.live.get("home") ?? null;
    if (view === this.view) return;
    const focused = this.element.contains(document.activeElement) ? document.activeElement.dataset.path : null;
    this.view = view;
    replaceChildren(this.element, view ? renderBlocks(view.blocks, this.surface) : h("p", { class: "empty" }, t("home_empty")));
    if (focused) this.element.querySelector(`[data-path="${focused}"]`)?.focus();
  }
}
