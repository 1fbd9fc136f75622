// rich_text blocks, and the cells of table blocks, which hold them.

import { h, link } from "./dom.js";
import { showEmoji } from "./inline.js";
import { scrollable } from "./markdown.js";
import { findPerson, findRoom } from "./names.js";

const TAGS = [["bold", "strong"], ["italic", "em"], ["strike", "del"], ["code", "code"], ["underline", "u"]];

export function renderRichText(block) {
  return h("div", { class: "markdown" }, ...block.elements.map(renderPart));
}

function renderPart(part) {
  const inside = (part.elements ?? []).map((one) => (one.type.startsWith("rich_text") ? renderPart(one) : renderSpan(one)));
  switch (part.type) {
    case "rich_text_list":
      return h(part.style === "ordered" ? "ol" : "ul", { class: `indent-${Math.min(part.indent ?? 0, 6)}` },
        ...inside.map((item) => h("li", {}, item)));
    case "rich_text_preformatted":
      return h("pre", { tabindex: "0" }, h("code", {}, ...inside));
    case "rich_text_quote":
      return h("blockquote", {}, ...inside);
    default:
      return h("p", {}, ...inside);
  }
}

function renderSpan(span) {
  let node;
  switch (span.type) {
    case "link": node = link(span.url, span.text || span.url); break;
    case "user": node = h("span", { class: "mention" }, `@${findPerson(span.user_id)?.real_name ?? span.user_id}`); break;
    case "channel": node = h("span", { class: "mention" }, `#${findRoom(span.channel_id)?.name ?? span.channel_id}`); break;
    case "broadcast": node = h("span", { class: "mention" }, `@${span.range}`); break;
    case "emoji": node = document.createTextNode(showEmoji(`:${span.name}:`)); break;
    default: node = document.createTextNode(span.text ?? "");
  }
  for (const [style, tag] of TAGS) if (span.style?.[style]) node = h(tag, {}, node);
  return node;
}

export function renderTable(block) {
  const settings = block.column_settings ?? [];
  const rows = block.rows.map((row, index) => h("tr", {}, ...row.map((cell, column) => h(index ? "td" : "th", {
    class: settings[column]?.align ?? null, scope: index ? null : "col",
  }, cell.type === "rich_text" ? renderRichText(cell) : cell.text ?? ""))));
  return scrollable(h("table", {}, h("thead", {}, rows[0]), h("tbody", {}, ...rows.slice(1))));
}
