// A mailbox: the list of messages, and the one that was chosen.

import { h, replaceChildren } from "./dom.js";
import { t } from "./texts.js";

export class Mailbox {
  constructor(live) {
    this.live = live;
    this.chosen = null;
    this.signature = null;
    this.list = h("div", { class: "mails", role: "listbox", tabindex: "0", "aria-label": t("mail"), onkeydown: (event) => this.key(event) });
    this.letter = h("article", { class: "letter", "aria-live": "polite" });
    this.element = h("div", { class: "mailbox" }, this.list, this.letter);
  }

  mails() {
    return this.live.list("mail/").map(([, mail]) => mail).sort((a, b) => b.number - a.number);
  }

  update() {
    const mails = this.mails();
    const signature = `${mails.map((mail) => mail.number)} ${this.chosen}`;
    if (signature === this.signature) return;
    this.signature = signature;
    replaceChildren(this.list, mails.length ? mails.map((mail) => this.renderRow(mail)) : h("p", { class: "empty" }, t("mail_empty")));
    this.list.setAttribute("aria-activedescendant", this.chosen === null ? "" : `mail-${this.chosen}`);
    const mail = mails.find((one) => one.number === this.chosen);
    replaceChildren(this.letter, mail ? this.renderLetter(mail) : mails.length > 0 && h("p", { class: "empty" }, t("mail_none")));
  }

  choose(number) {
    this.chosen = number;
    this.update();
    document.getElementById(`mail-${number}`)?.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    const mails = this.mails();
    const at = mails.findIndex((mail) => mail.number === this.chosen);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: mails.length - 1 }[event.key];
    if (next === undefined || !mails.length) return;
    event.preventDefault();
    this.choose(mails[Math.max(0, Math.min(next, mails.length - 1))].number);
  }

  renderRow(mail) {
    const isHere = mail.number === this.chosen;
    return h("div", { class: `mail ${isHere ? "here" : ""}`, id: `mail-${mail.number}`, role: "option", "aria-selected": String(isHere), onclick: () => this.choose(mail.number) },
      h("strong", {}, mail.subject || t("mail_subjectless")), h("span", { class: "faint" }, mail.from), h("span", { class: "faint" }, mail.to.join(", ")));
  }

  renderLetter(mail) {
    const row = (name, value) => [h("dt", {}, t(name)), h("dd", {}, value)];
    return [h("h2", {}, mail.subject || t("mail_subjectless")), h("dl", {}, row("from", mail.from), row("to", mail.to.join(", "))),
      h("p", { class: "faint" }, mail.date), h("div", { class: "letter-text" }, mail.text)];
  }
}
