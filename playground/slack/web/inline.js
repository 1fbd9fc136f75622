// Inline text: the Markdown of markdown blocks, and Slack's own mrkdwn.

import { h, link } from "./dom.js";
import { findPerson, findRoom } from "./names.js";
import { t } from "./texts.js";

const EMOJI = {
  white_check_mark: "✅", x: "❌", warning: "⚠️", mag: "🔍", bulb: "💡", books: "📚", lock: "🔒",
  thumbsup: "👍", thumbsdown: "👎", "+1": "👍", "-1": "👎", eyes: "👀", hourglass: "⌛",
  hourglass_flowing_sand: "⏳", email: "📧", memo: "📝", page_facing_up: "📄", gear: "⚙️",
  raising_hand: "🙋", arrow_right: "➡️", heavy_check_mark: "✔️", bell: "🔔", wave: "👋",
};

export function showEmoji(text) {
  return text.replace(/:([a-z0-9_+-]+):/g, (whole, name) => EMOJI[name] ?? whole);
}

function unescape(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function mention(inside) {
  const [target, label] = splitOnce(inside, "|");
  if (target.startsWith("@")) {
    const person = findPerson(target.slice(1));
    return h("span", { class: "mention" }, `@${person ? person.real_name : label || target.slice(1)}`);
  }
  if (target.startsWith("#")) {
    const room = findRoom(target.slice(1));
    return h("span", { class: "mention" }, `#${room ? room.name : label || target.slice(1)}`);
  }
  return h("span", { class: "mention" }, `@${label || target.slice(1).split("^")[0]}`);
}

function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

// Runs patterns over a text; the earliest match wins, in between is plain text.
function scan(text, patterns, plain) {
  const nodes = [];
  let rest = text;
  let before = "";
  while (rest) {
    let best = null;
    for (const [pattern, build] of patterns) {
      const match = pattern.exec(rest);
      if (match && (best === null || match.index < best.match.index)) best = { match, build };
    }
    if (best === null) break;
    const node = best.build(best.match, before + rest.slice(0, best.match.index));
    const end = best.match.index + best.match[0].length;
    const taken = node === null ? best.match.index + 1 : best.match.index;
    if (taken > 0) nodes.push(plain(rest.slice(0, taken)));
    before += rest.slice(0, node === null ? taken : end);
    if (node !== null) nodes.push(node);
    rest = rest.slice(node === null ? taken : end);
  }
  if (rest) nodes.push(plain(rest));
  return nodes;
}

const wrap = (tag, parse) => (match) => h(tag, {}, ...parse(match[1]));
// Slack's marks count only next to a space or punctuation, which Chinese letters are not.
const edges = (tag) => (match, before) => {
  const isOpen = !before || /[\s\p{P}\p{S}]$/u.test(before);
  return isOpen ? h(tag, {}, ...parseMrkdwn(match[1])) : null;
};

const MRKDWN = [
  [/```\n?([\s\S]*?)\n?```/, (match) => h("pre", {}, h("code", {}, unescape(match[1])))],
  [/`([^`\n]+)`/, (match) => h("code", {}, unescape(match[1]))],
  [/<([@#!][^<>\n]+)>/, (match) => mention(match[1])],
  [/<((?:https?|mailto):[^<>|\n]+)(?:\|([^<>\n]*))?>/i, (match) => link(unescape(match[1]), unescape(match[2] || match[1]))],
  [/\*([^*\n]+)\*(?![\p{L}\p{N}])/u, edges("strong")],
  [/_([^_\n]+)_(?![\p{L}\p{N}])/u, edges("em")],
  [/~([^~\n]+)~(?![\p{L}\p{N}])/u, edges("del")],
  [/^(?:&gt;|>) ?(.*)$/m, (match) => h("span", { class: "quoted" }, ...parseMrkdwn(match[1]))],
];

export function parseMrkdwn(text) {
  return scan(text, MRKDWN, (part) => showEmoji(unescape(part)));
}

const MARKDOWN = [
  [/\\([\\`*_{}[\]()#+\-.!~|<>])/, (match) => match[1]],
  [/(`+)([\s\S]*?[^`])\1(?!`)/, (match) => h("code", {}, match[2].trim())],
  // Pictures are named, never fetched: their address is somebody else's choice.
  [/!\[([^\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*\)/, (match) => h("span", { class: "picture" }, `${t("image")} ${match[1]}`)],
  [/\[((?:\\.|[^[\]\n\\]|\[[^[\]\n]*\])*)\]\(((?:[^()\s]|\([^()\s]*\))+)\)/, (match) => link(match[2], ...parseMarkdownText(match[1]))],
  [/<((?:https?|mailto):[^<>\s|]+)>/i, (match) => link(match[1], match[1])],
  [/<([@#!][^<>\n]+)>/, (match) => mention(match[1])],
  [/\*\*(?=\S)([\s\S]*?\S)\*\*(?!\*)/, wrap("strong", parseMarkdownText)],
  [/__(?=\S)([\s\S]*?\S)__(?!_)/, wrap("strong", parseMarkdownText)],
  [/~~(?=\S)([\s\S]*?\S)~~/, wrap("del", parseMarkdownText)],
  [/\*(?=[^\s*])([^*\n]*[^\s*])\*(?!\*)/, wrap("em", parseMarkdownText)],
  [/(?<![\p{L}\p{N}_])_(?=[^\s_])([^_\n]*[^\s_])_(?![\p{L}\p{N}_])/u, wrap("em", parseMarkdownText)],
  [/https?:\/\/[^\s<>()[\]"'，。；：！？、）】》`]*[^\s<>()[\]"'，。；：！？、）】》`.,;:!?]/i, (match) => link(match[0], match[0])],
  [/ {2,}\n|\\\n/, () => h("br")],
];

export function parseMarkdownText(text) {
  return scan(text, MARKDOWN, (part) => showEmoji(part));
}
