// A conversation with its heading, messages and composer.

import { Composer } from "./composer.js";
import { h } from "./dom.js";
import { MessageList } from "./list.js";
import { openMenu } from "./menu.js";
import { findPerson } from "./names.js";
import { join, leave } from "./sidebar.js";
import { t } from "./texts.js";

export class RoomPane {
  constructor(app, channel) {
    Object.assign(this, { app, channel });
    const room = this.room;
    const isDirect = room.kind === "im";
    const context = { user: app.user, live: app.live, setting: app.setting, openThread: (ts) => app.openThread(ts), below: (message) => this.renderBelow(message) };
    this.list = new MessageList(context, {
      label: this.title, select: () => app.roots(channel), empty: t(isDirect ? "dm_empty" : "room_empty"),
      extra: (message) => `${app.replies(channel, message.ts).length} ${app.status(channel, message.ts)}`,
    });
    const placeholder = isDirect ? t("write_dm") : t("write_room", { name: room.name });
    this.composer = room.is_member && !room.is_archived ? new Composer(context, { channel, placeholder, id: "composer" }) : null;
    this.prompts = h("div", { class: "prompts" });
    this.element = h("section", { class: "pane", "aria-label": this.title }, this.renderHead(),
      room.is_member ? this.list.element : this.renderOutside(), this.prompts, this.composer?.element);
  }

  get room() {
    return this.app.live.get(`room/${this.channel}`);
  }

  get title() {
    return this.room.kind === "im" ? t("app") : `#${this.room.name}`;
  }

  update() {
    this.list.update();
    this.showPrompts();
  }

  renderHead() {
    const { room } = this;
    const isDirect = room.kind === "im";
    const notes = [room.kind === "group" && t("private"), room.is_shared && t("shared"), room.topic].filter(Boolean).join(" · ");
    return h("header", { class: "pane-head" }, this.app.menuButton(),
      h("div", { class: "pane-title" }, h("h1", {}, this.title), notes && h("p", { class: "faint" }, notes)),
      isDirect ? this.app.appTabs("messages") : room.is_member && this.renderMembers());
  }

  renderMembers() {
    const made = h("button", { type: "button", class: "button quiet", "aria-haspopup": "menu", onclick: () => {
      const people = this.room.members.map((id) => findPerson(id)).filter(Boolean);
      openMenu(made, [
        ...people.map((one) => ({ label: one.real_name, note: one.kind === "member" ? one.name : t(`kind_${one.kind}`), choose() {} })),
        { label: t("leave"), isDanger: true, choose: () => leave(this.app.user, this.channel) },
      ]);
    } }, t("members", { n: this.room.members.length }));
    return made;
  }

  renderOutside() {
    return h("div", { class: "log outside" }, h("p", { class: "empty" }, t("not_member", { name: this.room.name })),
      h("button", { type: "button", class: "button primary", onclick: () => join(this.app.user, this.channel) }, t("join")));
  }

  renderBelow(message) {
    const replies = this.app.replies(this.channel, message.ts);
    const status = this.app.status(this.channel, message.ts);
    const label = replies.length === 1 ? t("reply_one") : t("replies", { n: replies.length });
    return [
      status && h("p", { class: "status on faint" }, status),
      replies.length > 0 && h("button", { type: "button", class: "replies", onclick: () => this.app.openThread(message.ts) }, label),
    ];
  }

  showPrompts() {
    const prompts = this.app.roots(this.channel).length ? [] : this.app.live.get(`prompts/${this.channel}`)?.prompts ?? [];
    this.prompts.replaceChildren(...prompts.map((one) => h("button", { type: "button", class: "button", onclick: () => this.composer.send(one.message) }, one.title)));
    this.prompts.hidden = prompts.length === 0;
  }
}

export class ThreadPane {
  constructor(app, channel, ts) {
    Object.assign(this, { app, channel, ts });
    const context = { user: app.user, live: app.live, setting: app.setting, openThread: null };
    this.list = new MessageList(context, { label: t("thread"), select: () => app.thread(channel, ts) });
    this.composer = new Composer(context, { channel, thread: ts, placeholder: t("write_thread"), id: "thread-composer" });
    const room = app.live.get(`room/${channel}`);
    this.element = h("aside", { class: "pane thread", "aria-label": t("thread") },
      h("header", { class: "pane-head" }, h("div", { class: "pane-title" }, h("h2", {}, t("thread")), h("p", { class: "faint" }, room.name ? `#${room.name}` : t("app"))),
        h("button", { type: "button", class: "button quiet", "aria-label": t("close"), onclick: () => app.closeThread() }, "✕")),
      this.list.element, this.composer.element);
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing) app.closeThread();
    });
  }

  update() {
    this.list.update(this.app.status(this.channel, this.ts));
  }
}
