// The left side: who one is, where one can go.

import { act } from "./actions.js";
import { h, replaceChildren } from "./dom.js";
import { language, setLanguage, t } from "./texts.js";

export class Sidebar {
  constructor(app) {
    this.app = app;
    this.element = h("nav", { class: "sidebar", "aria-label": t("menu") });
  }

  update() {
    const { app } = this;
    const focused = this.element.contains(document.activeElement) ? document.activeElement.id : null;
    const rooms = app.live.list("room/").map(([, room]) => room).filter((room) => room.name);
    rooms.sort((a, b) => Number(b.is_member) - Number(a.is_member) || a.name.localeCompare(b.name));
    replaceChildren(this.element,
      h("div", { class: "brand" }, h("span", { class: "face bot", "aria-hidden": "true" }, "知"), h("strong", {}, t("workspace")),
        h("button", { type: "button", id: "language", class: "button quiet", lang: language === "zh" ? "en" : "zh-CN", onclick: () => this.switchLanguage() }, t("language"))),
      this.renderPerson(),
      h("div", { class: "places" },
        h("h2", { class: "group" }, t("app")),
        this.place(app.direct(), t("messages"), "✦"), this.place("home", t("home"), "⌂"),
        h("h2", { class: "group" }, t("channels")),
        ...rooms.map((room) => this.place(room.id, room.name, room.kind === "channel" ? "#" : "🔒", room)),
        h("h2", { class: "group" }, t("places")),
        this.place("mail", t("mail"), "✉"),
        ...Object.entries(app.setting.links).map(([name, address]) => h("a", { class: "place", href: address, target: "_blank", rel: "noopener" },
          h("span", { class: "sign", "aria-hidden": "true" }, "↗"), h("span", {}, t(name)), h("span", { class: "unseen" }, t("opens_new"))))));
    if (focused) document.getElementById(focused)?.focus();
  }

  renderPerson() {
    const options = this.app.setting.people.map((one) => h("option", { value: one.id, selected: one.id === this.app.user },
      one.kind === "member" ? one.real_name : `${one.real_name} · ${t(`kind_${one.kind}`)}`));
    return h("label", { class: "person" }, h("span", { class: "faint" }, t("acting_as")),
      h("select", { class: "entry", id: "person", onchange: (event) => this.app.switchPerson(event.target.value) }, ...options));
  }

  place(id, name, sign, room = null) {
    const isHere = this.app.at === id;
    const isNew = this.app.isUnread(id);
    const classes = ["place", isHere && "here", isNew && "unread", room && !room.is_member && "outside"].filter(Boolean).join(" ");
    return h("button", { type: "button", id: `to-${id}`, class: classes, "aria-current": isHere ? "page" : null, onclick: () => this.app.go(id) },
      h("span", { class: "sign", "aria-hidden": "true" }, sign), h("span", { class: "place-name" }, name),
      room?.is_shared && h("span", { class: "faint", title: t("shared") }, "⇄"),
      isNew && h("span", { class: "dot" }, h("span", { class: "unseen" }, t("unread"))));
  }

  switchLanguage() {
    setLanguage(language === "zh" ? "en" : "zh");
    this.app.restart();
    document.getElementById("language")?.focus();
  }
}

export const join = (user, channel) => act("join", { as: user, channel });
export const leave = (user, channel) => act("leave", { as: user, channel });
