// All mail that the playground's server took, for whoever runs it.

import { announce, h } from "./dom.js";
import { Live } from "./live.js";
import { Mailbox } from "./mail.js";
import { language, setLanguage, t } from "./texts.js";

setLanguage(language);
document.title = t("mail");
const live = new Live({ all: "mail" }, (difference, isFirst) => {
  mailbox.update();
  if (!isFirst) for (const mail of Object.values(difference.set)) announce(`${t("mail")}: ${mail.subject}`);
}, (isConnected) => document.body.classList.toggle("offline", !isConnected));
const mailbox = new Mailbox(live);
document.getElementById("app").append(h("section", { class: "pane" },
  h("header", { class: "pane-head" }, h("div", { class: "pane-title" }, h("h1", {}, t("mail")), h("p", { class: "faint" }, t("mail_all")))),
  mailbox.element));
mailbox.update();
