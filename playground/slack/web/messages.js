// One message as an element: who, when, what, and what can be done with it.

import { act } from "./actions.js";
import { renderBlocks } from "./blocks.js";
import { confirm, plain } from "./dialog.js";
import { h } from "./dom.js";
import { parseMrkdwn } from "./inline.js";
import { renderMarkdown } from "./markdown.js";
import { openMenu } from "./menu.js";
import { findPerson } from "./names.js";
import { Surface } from "./surface.js";
import { formatTime, t } from "./texts.js";
import { toTyped, toWire } from "./wire.js";

export function renderMessage(message, context) {
  const author = findPerson(message.user);
  const name = author?.real_name ?? message.user;
  const isMine = message.user === context.user;
  const surface = new Surface(context.user, context.live, "message", () => ({ channel: message.channel, ts: message.ts }));
  const body = h("div", { class: "message-body" }, ...renderContent(message, surface));
  const element = h("article", {
    class: `message ${message.is_ephemeral ? "ephemeral" : ""}`, data: { ts: message.ts }, "aria-label": `${name} ${formatTime(message.ts)}`,
  },
  renderFace(author, name),
  h("div", { class: "message-main" },
    h("div", { class: "message-head" },
      h("span", { class: "author" }, name),
      author?.kind === "bot" && h("span", { class: "badge" }, t("app_badge")),
      author && ["guest", "stranger"].includes(author.kind) && h("span", { class: "badge" }, t(`kind_${author.kind}`)),
      h("time", { class: "faint" }, formatTime(message.ts)),
      message.edited && h("span", { class: "faint" }, t("edited")),
      message.is_ephemeral && h("span", { class: "faint only-you" }, `👁 ${t("only_you")}`)),
    body,
    context.below?.(message)),
  message.subtype !== "tombstone" && !message.is_ephemeral && renderTools(message, { ...context, isMine, edit: () => startEdit(body, message, context, surface) }));
  return element;
}

function renderContent(message, surface) {
  if (message.subtype === "tombstone") return [h("p", { class: "faint" }, t("deleted"))];
  const parts = [];
  if (message.is_markdown && message.text) parts.push(renderMarkdown(message.text));
  else if (!message.blocks?.length) parts.push(h("div", { class: "text" }, ...parseMrkdwn(message.text)));
  if (message.blocks) parts.push(...renderBlocks(message.blocks, surface));
  if (message.is_streaming) parts.push(h("span", { class: "caret", role: "img", "aria-label": t("streaming") }));
  return parts;
}

const TINTS = 6;

export function renderFace(person, name) {
  if (person?.kind === "bot") return h("span", { class: "face bot", "aria-hidden": "true" }, "知");
  const tint = [...(person?.id ?? name)].reduce((sum, one) => sum + one.codePointAt(0), 0) % TINTS;
  const letters = /\p{Script=Han}/u.test(name) ? [...name].slice(-1) : name.split(/\s+/).map((part) => part[0]).slice(0, 2);
  return h("span", { class: `face tint-${tint}`, "aria-hidden": "true" }, letters.join(""));
}

function renderTools(message, context) {
  const more = h("button", { type: "button", class: "tool", "aria-label": t("more"), "aria-haspopup": "menu", onclick: () => openMenu(more, listItems(message, context)) }, "⋯");
  const reply = context.openThread && h("button", { type: "button", class: "tool", "aria-label": t("reply"), title: t("reply"), onclick: () => context.openThread(message.ts) }, "💬");
  return h("div", { class: "tools" }, reply, more);
}

function listItems(message, context) {
  const where = { as: context.user, channel: message.channel, ts: message.ts };
  const items = context.setting.message_shortcuts.map((one) => ({
    label: one.name, choose: () => act("shortcut", { ...where, callback_id: one.callback_id }),
  }));
  if (context.openThread) items.push({ label: t("reply"), choose: () => context.openThread(message.ts) });
  if (context.isMine) {
    items.push({ label: t("edit"), choose: context.edit });
    items.push({ label: t("delete"), isDanger: true, choose: async () => {
      const asked = { title: plain(t("delete")), text: plain(t("delete_sure")), confirm: plain(t("delete")), deny: plain(t("cancel")), style: "danger" };
      if (await confirm(asked)) act("delete", where);
    } });
  }
  return items.length ? items : [{ label: t("shortcuts_none"), isDisabled: true, choose() {} }];
}

function startEdit(body, message, context, surface) {
  const back = () => {
    body.replaceChildren(...renderContent(message, surface));
    context.refresh();
  };
  const field = h("textarea", { class: "entry", rows: "3", "aria-label": t("edit"), value: toTyped(message.text) });
  const save = async () => {
    if (field.value.trim()) await act("edit", { as: context.user, channel: message.channel, ts: message.ts, text: toWire(field.value) });
    back();
  };
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); save(); }
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); back(); }
  });
  body.replaceChildren(field, h("div", { class: "row" },
    h("button", { type: "button", class: "button", onclick: back }, t("cancel")),
    h("button", { type: "button", class: "button primary", onclick: save }, t("save"))));
  field.focus();
}
