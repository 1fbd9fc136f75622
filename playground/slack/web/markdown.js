// Block-level Markdown as Slack's markdown block takes it: headings, lists, tables, code, quotes.

import { h } from "./dom.js";
import { parseMarkdownText } from "./inline.js";

const FENCE = /^ {0,3}(```+|~~~+)\s*([\w+-]*)\s*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const MOST_DEPTH = 8;

export function renderMarkdown(text) {
  return h("div", { class: "markdown" }, ...parseBlocks(text.replaceAll("\r\n", "\n").split("\n"), 0));
}

function parseBlocks(lines, depth) {
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (!line.trim()) { at += 1; continue; }
    const [node, next] = parseBlock(lines, at, depth);
    nodes.push(node);
    at = next;
  }
  return nodes;
}

function parseBlock(lines, at, depth) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) return parseFence(lines, at, fence[1]);
  const heading = HEADING.exec(line);
  if (heading) {
    // Below the page's own headings.
    const level = Math.min(6, heading[1].length + 2);
    return [h(`h${level}`, { class: `heading-${heading[1].length}` }, ...parseMarkdownText(heading[2])), at + 1];
  }
  if (RULE.test(line)) return [h("hr"), at + 1];
  if (isTable(lines, at)) return parseTable(lines, at);
  if (QUOTE.test(line) && depth < MOST_DEPTH) return parseQuote(lines, at, depth);
  if (ITEM.test(line) && depth < MOST_DEPTH) return parseList(lines, at, depth);
  return parseParagraph(lines, at);
}

function parseFence(lines, at, mark) {
  const code = [];
  let next = at + 1;
  while (next < lines.length && !lines[next].trim().startsWith(mark)) code.push(lines[next++]);
  return [h("pre", { tabindex: "0" }, h("code", {}, code.join("\n"))), next + 1];
}

function parseQuote(lines, at, depth) {
  const inside = [];
  let next = at;
  while (next < lines.length && QUOTE.test(lines[next])) inside.push(QUOTE.exec(lines[next++])[1]);
  return [h("blockquote", {}, ...parseBlocks(inside, depth + 1)), next];
}

function parseList(lines, at, depth) {
  const [, indent, mark] = ITEM.exec(lines[at]);
  const isOrdered = /\d/.test(mark);
  const items = [];
  let next = at;
  while (next < lines.length) {
    const match = ITEM.exec(lines[next]);
    if (!match || match[1].length > indent.length + 1 || match[1].length < indent.length) break;
    if (/\d/.test(match[2]) !== isOrdered) break;
    const inside = [match[3]];
    next += 1;
    const width = match[1].length + 1;
    while (next < lines.length) {
      const line = lines[next];
      const isDeeper = line.trim() && line.length - line.trimStart().length >= width + 1;
      const isGap = !line.trim() && next + 1 < lines.length && /^\s{2,}\S/.test(lines[next + 1])
        && lines[next + 1].length - lines[next + 1].trimStart().length >= width + 1;
      if (!isDeeper && !isGap) break;
      inside.push(line);
      next += 1;
    }
    items.push(h("li", {}, ...parseItem(inside, depth)));
    // A blank line between two items does not end the list.
    if (next + 1 < lines.length && !lines[next].trim() && ITEM.exec(lines[next + 1])?.[1].length === indent.length) next += 1;
  }
  const start = isOrdered ? Number.parseInt(mark, 10) : 1;
  return [h(isOrdered ? "ol" : "ul", isOrdered && start !== 1 ? { start } : {}, ...items), next];
}

function parseItem(inside, depth) {
  const [first, ...rest] = inside;
  if (!rest.length) return parseMarkdownText(first);
  const indents = rest.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length);
  const dedent = Math.min(...indents);
  const nodes = parseBlocks([first, ...rest.map((line) => line.slice(dedent))], depth + 1);
  return nodes[0]?.tagName === "P" ? [...nodes[0].childNodes, ...nodes.slice(1)] : nodes;
}

function parseParagraph(lines, at) {
  const inside = [lines[at]];
  let next = at + 1;
  while (next < lines.length && lines[next].trim() && !startsBlock(lines, next)) inside.push(lines[next++]);
  return [h("p", {}, ...parseMarkdownText(inside.join("\n"))), next];
}

function startsBlock(lines, at) {
  const line = lines[at];
  return [FENCE, HEADING, RULE, ITEM, QUOTE].some((one) => one.test(line)) || isTable(lines, at);
}

function isTable(lines, at) {
  return lines[at].includes("|") && at + 1 < lines.length && lines[at + 1].includes("-") && DIVIDER.test(lines[at + 1])
    && lines[at + 1].includes("|");
}

function parseTable(lines, at) {
  const aligns = splitRow(lines[at + 1]).map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : ""));
  const row = (line, tag) => h("tr", {}, ...splitRow(line).map((cell, index) => h(tag, {
    class: aligns[index] || null, scope: tag === "th" ? "col" : null,
  }, ...parseMarkdownText(cell))));
  const rows = [];
  let next = at + 2;
  while (next < lines.length && lines[next].trim() && lines[next].includes("|")) rows.push(row(lines[next++], "td"));
  return [scrollable(h("table", {}, h("thead", {}, row(lines[at], "th")), h("tbody", {}, ...rows))), next];
}

export function scrollable(table) {
  return h("div", { class: "scroll", tabindex: "0", role: "group" }, table);
}

function splitRow(line) {
  const cells = [];
  let cell = "";
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  for (let index = 0; index < inner.length; index += 1) {
    if (inner[index] === "\\" && inner[index + 1] === "|") { cell += "|"; index += 1; } else if (inner[index] === "|") { cells.push(cell.trim()); cell = ""; } else cell += inner[index];
  }
  return [...cells, cell.trim()];
}
