// What can follow an `@`, or a `/` at the beginning: a list box that arrows move through.

import { h, replaceChildren, unique } from "./dom.js";
import { listPeople } from "./names.js";
import { language, t } from "./texts.js";

const MOST = 8;

export class Completion {
  constructor(field, context, hasCommands) {
    Object.assign(this, { field, context, hasCommands });
    this.id = unique("complete");
    this.element = h("ul", { class: "completion", role: "listbox", id: this.id, hidden: true });
    this.found = [];
    this.at = 0;
    for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": this.id, "aria-expanded": "false" })) {
      field.setAttribute(name, value);
    }
  }

  update() {
    const before = this.field.value.slice(0, this.field.selectionStart);
    this.found = this.find(before);
    this.at = 0;
    this.show();
  }

  find(before) {
    const command = /^\/(\w*)$/.exec(before);
    if (command && this.hasCommands) {
      return this.context.setting.commands.filter((one) => one.command.startsWith(before)).map((one) => ({
        label: one.command, note: language === "zh" ? one.hint_zh : one.hint, text: `${one.command} `, from: 0,
      }));
    }
    const mention = /(?:^|[^A-Za-z0-9_.])@([^\s@]{0,30})$/u.exec(before);
    if (!mention) return [];
    const typed = mention[1].toLowerCase();
    const from = before.length - mention[1].length - 1;
    const people = listPeople().filter((one) => !one.is_gone && [one.name, one.real_name].some((name) => name.toLowerCase().includes(typed)));
    people.sort((a, b) => Number(b.kind === "bot") - Number(a.kind === "bot") || a.name.localeCompare(b.name));
    return people.slice(0, MOST).map((one) => ({ label: one.real_name, note: one.kind === "bot" ? t("app_badge") : one.name, text: `@${one.real_name} `, from }));
  }

  show() {
    this.element.hidden = this.found.length === 0;
    this.field.setAttribute("aria-expanded", String(this.found.length > 0));
    replaceChildren(this.element, this.found.map((one, index) => h("li", {
      role: "option", id: `${this.id}-${index}`, "aria-selected": String(index === this.at), class: "option",
      onpointerdown: (event) => { event.preventDefault(); this.choose(index); },
    }, h("span", {}, one.label), h("span", { class: "faint" }, one.note))));
    if (this.found.length) this.field.setAttribute("aria-activedescendant", `${this.id}-${this.at}`);
    else this.field.removeAttribute("aria-activedescendant");
    this.element.children[this.at]?.scrollIntoView({ block: "nearest" });
  }

  // Returns whether the key was meant for the list.
  key(event) {
    if (!this.found.length) return false;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) this.at = (this.at + steps[event.key] + this.found.length) % this.found.length;
    else if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) this.choose(this.at);
    else if (event.key === "Escape") this.found = [];
    else return false;
    event.preventDefault();
    event.stopPropagation();
    this.show();
    return true;
  }

  choose(index) {
    const { text, from } = this.found[index];
    const end = this.field.selectionStart;
    this.field.setRangeText(text, from, end, "end");
    this.found = [];
    this.show();
    this.field.focus();
  }

  close() {
    this.found = [];
    this.show();
  }
}
