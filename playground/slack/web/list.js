// A list of messages that only touches what changed, and stays at its lower end.

import { h } from "./dom.js";
import { renderMessage } from "./messages.js";
import { formatDay } from "./texts.js";

const NEAR_PX = 80;

export class MessageList {
  // `select` returns the messages in order; `extra` what else a message's look depends on.
  constructor(context, { label, select, extra = () => "", empty = null }) {
    Object.assign(this, { select, extra });
    this.context = { ...context, refresh: () => this.update(this.said) };
    this.said = "";
    this.rows = new Map();
    this.empty = h("p", { class: "empty", hidden: true }, empty);
    this.inner = h("div", { class: "messages" }, this.empty);
    this.status = h("div", { class: "status faint", role: "status" });
    this.element = h("div", { class: "log", role: "log", "aria-live": "off", "aria-label": label, tabindex: "0" }, this.inner, this.status);
  }

  update(status = "") {
    this.said = status;
    const log = this.element;
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_PX;
    const messages = this.select();
    const focus = this.inner.contains(document.activeElement) ? findPlace(document.activeElement) : null;
    const wanted = [];
    let day = "";
    for (const message of messages) {
      const today = formatDay(message.ts);
      if (today !== day) { day = today; wanted.push(this.row(`day ${today}`, today, () => h("div", { class: "day" }, h("span", {}, today)))); }
      wanted.push(this.row(message.ts, message, () => renderMessage(message, this.context), this.extra(message)));
    }
    this.empty.hidden = messages.length > 0;
    this.place([this.empty, ...wanted]);
    if (this.status.textContent !== status) this.status.textContent = status;
    this.status.classList.toggle("on", Boolean(status));
    if (focus) this.inner.querySelector(`[data-ts="${focus.ts}"] [data-path="${focus.path}"]`)?.focus();
    if (isAtEnd || messages.at(-1)?.user === this.context.user) this.scrollToEnd(messages.at(-1)?.ts);
  }

  scrollToEnd(ts) {
    if (ts !== this.lastTs || this.element.scrollHeight !== this.lastHeight) this.element.scrollTop = this.element.scrollHeight;
    this.lastTs = ts;
    this.lastHeight = this.element.scrollHeight;
  }

  row(key, value, build, extra = "") {
    const old = this.rows.get(key);
    if (old && old.value === value && old.extra === extra) return old.element;
    // Somebody is typing in it: what changed shows once they are done.
    if (old?.element.querySelector("textarea")) return old.element;
    const element = build();
    this.rows.set(key, { value, extra, element });
    return element;
  }

  place(wanted) {
    const kept = new Set(wanted);
    for (const child of [...this.inner.children]) if (!kept.has(child)) child.remove();
    for (const [key, row] of this.rows) if (!kept.has(row.element)) this.rows.delete(key);
    let before = this.inner.firstChild;
    for (const element of wanted) {
      if (element === before) before = before.nextSibling;
      else this.inner.insertBefore(element, before);
    }
  }
}

function findPlace(element) {
  const ts = element.closest("[data-ts]")?.dataset.ts;
  const path = element.dataset.path;
  return ts && path ? { ts, path } : null;
}
