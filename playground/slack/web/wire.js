// Between what is typed and what is sent: `@Name` is `<@U1>`, and three characters are escaped.

import { findPerson, listPeople } from "./names.js";

export function toWire(typed) {
  let text = typed.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const names = listPeople().flatMap((one) => [[one.real_name, one.id], [one.name, one.id]]);
  names.sort(([a], [b]) => b.length - a.length);
  for (const [name, id] of names) {
    const literal = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    text = text.replace(new RegExp(`@${literal}(?![A-Za-z0-9_.])`, "gi"), () => `<@${id}>`);
  }
  return text;
}

export function toTyped(text) {
  return text.replace(/<@([A-Z0-9]+)>/g, (whole, id) => `@${findPerson(id)?.real_name ?? id}`)
    .replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
