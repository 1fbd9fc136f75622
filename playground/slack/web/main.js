// The page: one person per tab, one place at a time, a thread beside it.

import { act, fetchSetting } from "./actions.js";
import { announce, h, replaceChildren } from "./dom.js";
import { Home } from "./home.js";
import { Live } from "./live.js";
import { Mailbox } from "./mail.js";
import { Modals } from "./modal.js";
import { findPerson, useNames } from "./names.js";
import { RoomPane, ThreadPane } from "./room.js";
import { Sidebar } from "./sidebar.js";
import { language, setLanguage, t } from "./texts.js";

const MOST_SAID = 200;

class App {
  constructor(setting) {
    this.setting = setting;
    this.root = document.getElementById("app");
    window.addEventListener("hashchange", () => this.followAddress());
    document.getElementById("skip").addEventListener("click", () => document.getElementById("composer")?.focus());
    this.start();
  }

  start() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const known = this.setting.people.map((one) => one.id);
    this.user = known.includes(asked.get("as")) ? asked.get("as") : known[0];
    this.at = asked.get("at") ?? "";
    this.threadTs = asked.get("thread") ?? "";
    replaceChildren(this.root, h("p", { class: "empty" }, t("loading")));
    this.live?.close();
    this.live = new Live({ as: this.user }, (...change) => this.take(...change), (isConnected) => document.body.classList.toggle("offline", !isConnected));
    useNames(this.live);
  }

  // Builds everything anew, as after a change of language.
  restart() {
    this.modals?.hide();
    this.build();
  }

  build() {
    document.getElementById("skip").textContent = t("skip");
    document.body.dataset.offline = t("offline");
    this.sidebar = new Sidebar(this);
    this.modals = new Modals(this.user, this.live);
    this.mailbox = new Mailbox(this.live);
    this.home = new Home(this.user, this.live);
    this.frame = h("div", { class: "frame" });
    const app = h("div", { class: "app" }, this.sidebar.element, this.frame);
    // On a phone the menu lies over the rest, which then only takes it away again.
    const closeMenu = (event) => {
      if (!app.classList.contains("menu-open")) return;
      app.classList.remove("menu-open");
      event.stopPropagation();
      event.preventDefault();
    };
    this.frame.addEventListener("click", closeMenu, true);
    app.addEventListener("keydown", (event) => { if (event.key === "Escape") closeMenu(event); });
    replaceChildren(this.root, app);
    this.show();
  }

  take(difference, isFirst) {
    if (isFirst) {
      if (!this.isPlace(this.at)) this.at = this.firstPlace();
      this.build();
      return;
    }
    this.announceNew(difference);
    const changed = Object.keys(difference.set).concat(difference.gone);
    const isRoomNew = changed.includes(`room/${this.at}`);
    if (!this.isPlace(this.at)) this.go(this.firstPlace());
    else if (isRoomNew) this.show();
    else this.update();
  }

  show() {
    this.pane = this.buildPane();
    const hasThread = this.threadTs && this.live.get(`message/${this.at}/${this.threadTs}`);
    this.threadPane = hasThread ? new ThreadPane(this, this.at, this.threadTs) : null;
    replaceChildren(this.frame, this.pane.element, this.threadPane?.element);
    this.frame.classList.toggle("with-thread", Boolean(hasThread));
    this.update();
  }

  buildPane() {
    if (this.at === "mail") return this.wrap(this.mailbox, t("mail"), t("mail_mine", { name: findPerson(this.user)?.real_name ?? "" }));
    if (this.at === "home") return this.wrap(this.home, t("app"), "", this.appTabs("home"));
    return new RoomPane(this, this.at);
  }

  wrap(part, title, note, tabs = null) {
    const element = h("section", { class: "pane", "aria-label": title }, h("header", { class: "pane-head" }, this.menuButton(),
      h("div", { class: "pane-title" }, h("h1", {}, title), note && h("p", { class: "faint" }, note)), tabs), part.element);
    return { element, update: () => part.update() };
  }

  update() {
    this.markSeen();
    this.sidebar.update();
    this.pane.update();
    this.threadPane?.update();
    this.modals.update();
    const person = findPerson(this.user)?.real_name ?? "";
    document.title = `${this.at === "mail" ? t("mail") : this.live.get(`room/${this.at}`)?.name || t("app")} · ${person}`;
  }

  // Where one is

  isPlace(id) {
    return id === "mail" || id === "home" || Boolean(this.live.get(`room/${id}`));
  }

  direct() {
    return this.live.list("room/").find(([, room]) => room.kind === "im")?.[0] ?? "";
  }

  firstPlace() {
    return this.live.list("room/").find(([, room]) => room.is_member && room.name)?.[0] ?? this.direct();
  }

  go(id, thread = "") {
    this.at = id;
    this.threadTs = thread;
    this.root.querySelector(".app")?.classList.remove("menu-open");
    this.writeAddress();
    if (id === "home") act("home", { as: this.user });
    else if (id === this.direct()) act("home", { as: this.user, tab: "messages" });
    this.show();
    document.getElementById("composer")?.focus({ preventScroll: true });
  }

  openThread(ts) {
    this.threadTs = ts;
    this.writeAddress();
    this.show();
    document.getElementById("thread-composer")?.focus({ preventScroll: true });
  }

  closeThread() {
    const ts = this.threadTs;
    this.threadTs = "";
    this.writeAddress();
    this.show();
    (this.frame.querySelector(`[data-ts="${ts}"] .replies`) ?? document.getElementById("composer"))?.focus();
  }

  switchPerson(user) {
    location.hash = new URLSearchParams({ as: user }).toString();
  }

  writeAddress() {
    const place = { as: this.user, at: this.at };
    if (this.threadTs) place.thread = this.threadTs;
    history.pushState(null, "", `#${new URLSearchParams(place)}`);
  }

  followAddress() {
    const asked = new URLSearchParams(location.hash.slice(1));
    if (asked.get("as") !== this.user) { this.start(); return; }
    this.at = asked.get("at") ?? this.at;
    this.threadTs = asked.get("thread") ?? "";
    if (this.isPlace(this.at)) this.show();
  }

  menuButton() {
    return h("button", { type: "button", class: "button quiet menu-button", "aria-label": t("menu"), onclick: () => {
      this.root.querySelector(".app").classList.add("menu-open");
      document.getElementById("person").focus();
    } }, "☰");
  }

  appTabs(here) {
    const tab = (name, id) => h("button", { type: "button", class: `tab ${here === name ? "here" : ""}`, "aria-current": here === name ? "page" : null, onclick: () => this.go(id) }, t(name));
    return h("div", { class: "tabs" }, tab("messages", this.direct()), tab("home", "home"));
  }

  // What there is

  messages(channel) {
    return this.live.list(`message/${channel}/`).map(([, message]) => message).sort((a, b) => Number(a.ts) - Number(b.ts));
  }

  roots(channel) {
    return this.messages(channel).filter((one) => !one.thread_ts || one.thread_ts === one.ts);
  }

  replies(channel, ts) {
    return this.messages(channel).filter((one) => one.thread_ts === ts && one.ts !== ts);
  }

  thread(channel, ts) {
    return this.messages(channel).filter((one) => one.ts === ts || one.thread_ts === ts);
  }

  status(channel, ts) {
    return this.live.get(`status/${channel}/${ts}`)?.text ?? "";
  }

  // What is new

  newest(channel) {
    return this.messages(channel).filter((one) => one.user !== this.user).at(-1)?.ts ?? "0";
  }

  markSeen() {
    if (document.hidden || !this.live.get(`room/${this.at}`)) return;
    sessionStorage.setItem(`seen ${this.user} ${this.at}`, this.newest(this.at));
  }

  isUnread(id) {
    if (id === this.at || !this.live.get(`room/${id}`)?.is_member) return false;
    return Number(this.newest(id)) > Number(sessionStorage.getItem(`seen ${this.user} ${id}`) ?? 0);
  }

  announceNew(difference) {
    for (const [key, message] of Object.entries(difference.set)) {
      if (!key.startsWith(`message/${this.at}/`) || message.user === this.user || message.is_streaming) continue;
      const name = findPerson(message.user)?.real_name ?? "";
      announce(t("new_message", { name, text: message.text.slice(0, MOST_SAID) }));
    }
  }
}

setLanguage(language);
new App(await fetchSetting());
