// A question in front of everything: yes or no.

import { renderText } from "./blocks.js";
import { h, unique } from "./dom.js";
import { trapFocus } from "./focus.js";
import { t } from "./texts.js";

// Takes a confirmation object of Block Kit and resolves to whether the person agreed.
export function confirm(asked) {
  return new Promise((resolve) => {
    const id = unique("ask");
    const end = (isAgreed) => { release(); shade.remove(); resolve(isAgreed); };
    const yes = h("button", { type: "button", class: `button ${asked.style === "danger" ? "danger" : "primary"}`, onclick: () => end(true) },
      ...(asked.confirm ? renderText(asked.confirm) : [t("yes")]));
    const no = h("button", { type: "button", class: "button", onclick: () => end(false) },
      ...(asked.deny ? renderText(asked.deny) : [t("no")]));
    const box = h("div", { class: "dialog small", role: "alertdialog", "aria-modal": "true", "aria-labelledby": `${id}-title`, "aria-describedby": `${id}-text` },
      h("h2", { id: `${id}-title` }, ...renderText(asked.title)),
      h("div", { class: "dialog-body", id: `${id}-text` }, ...renderText(asked.text)),
      h("div", { class: "dialog-foot" }, no, yes));
    const shade = h("div", { class: "shade" }, box);
    document.getElementById("overlays").append(shade);
    const release = trapFocus(box, () => end(false));
    no.focus();
  });
}

export const plain = (text) => ({ type: "plain_text", text });
