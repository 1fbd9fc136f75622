// A short word at the lower edge that goes by itself.

import { h } from "./dom.js";

const STAYS_MS = 6000;

export function showToast(text) {
  const toast = h("div", { class: "toast", role: "alert" }, text);
  document.getElementById("overlays")?.append(toast);
  setTimeout(() => toast.remove(), STAYS_MS);
}
