// Block Kit blocks as elements. A surface says where they stand and what pressing does.

import { h } from "./dom.js";
import { renderElement } from "./elements.js";
import { parseMrkdwn, showEmoji } from "./inline.js";
import { renderMarkdown } from "./markdown.js";
import { renderRichText, renderTable } from "./richtext.js";
import { t } from "./texts.js";

export function renderText(object) {
  if (!object) return [];
  return object.type === "mrkdwn" ? parseMrkdwn(object.text) : [showEmoji(object.text)];
}

export function renderBlocks(blocks, surface) {
  return blocks.map((block, index) => h("div", { class: `block ${block.type}`, data: { block: index } }, renderBlock(block, index, surface)));
}

function renderBlock(block, index, surface) {
  const at = (place) => `${index}/${place}`;
  switch (block.type) {
    case "section": return renderSection(block, at(0), surface);
    case "header": return h("h3", { class: "header-text" }, ...renderText(block.text));
    case "divider": return h("hr");
    case "context": return block.elements.map((one) => (one.type === "image" ? renderPicture(one) : h("span", { class: "context-text" }, ...renderText(one))));
    case "actions":
    case "context_actions": return block.elements.map((one, place) => renderElement(one, at(place), surface));
    case "markdown": return renderMarkdown(block.text);
    case "table": return renderTable(block);
    case "rich_text": return renderRichText(block);
    case "image": return renderPicture(block);
    case "input": return renderInput(block, at(0), index, surface);
    default: return h("p", { class: "faint" }, t("unsupported", { type: block.type }));
  }
}

function renderSection(block, path, surface) {
  const text = h("div", { class: "section-text" }, block.text && h("div", { class: "text" }, ...renderText(block.text)),
    block.fields && h("div", { class: "fields" }, ...block.fields.map((one) => h("div", { class: "text" }, ...renderText(one)))));
  const accessory = block.accessory && (block.accessory.type === "image"
    ? renderPicture(block.accessory) : h("div", { class: "accessory" }, renderElement(block.accessory, path, surface)));
  return [text, accessory];
}

// An address that somebody wrote is never fetched: the picture is named instead.
function renderPicture(picture) {
  return h("span", { class: "picture", role: "img", "aria-label": picture.alt_text }, `${t("image")} ${picture.alt_text}`);
}

function renderInput(block, path, index, surface) {
  const id = surface.id(path);
  const error = h("p", { class: "field-error", id: `${id}-error`, hidden: true });
  const hint = block.hint && h("p", { class: "hint", id: `${id}-hint` }, ...renderText(block.hint));
  const isGroup = ["radio_buttons", "checkboxes"].includes(block.element.type);
  const label = h(isGroup ? "span" : "label", { class: "label", for: isGroup ? null : id, id: `${id}-label` },
    ...renderText(block.label), block.optional && h("span", { class: "faint" }, ` ${t("optional")}`));
  const described = [`${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ");
  const field = renderElement(block.element, path, surface, { described, isRequired: !block.optional, dispatches: block.dispatch_action });
  return h("div", { class: "field", data: { blockId: block.block_id || `b${index}` } }, label, field, hint, error);
}
