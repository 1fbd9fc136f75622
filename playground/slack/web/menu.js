// A menu that opens at a button: arrows move, Enter chooses, Esc closes.

import { h } from "./dom.js";

let closeOpen = null;

export function openMenu(anchor, items) {
  closeOpen?.();
  const entries = items.map((item) => h("button", {
    type: "button", role: item.isChosen === undefined ? "menuitem" : "menuitemradio", class: `menu-item ${item.isDanger ? "danger" : ""}`, tabindex: "-1",
    "aria-checked": item.isChosen === undefined ? null : String(item.isChosen), disabled: item.isDisabled ?? false,
    onclick: () => { close(); item.choose(); },
  }, h("span", {}, item.label), item.note && h("span", { class: "faint" }, item.note)));
  const menu = h("div", { class: "menu", role: "menu" }, ...entries);
  const usable = entries.filter((one) => !one.disabled);
  const move = (step) => {
    const at = usable.indexOf(document.activeElement);
    usable[(at + step + usable.length) % usable.length]?.focus();
  };
  menu.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) { event.preventDefault(); move(steps[event.key]); }
    if (event.key === "Home") { event.preventDefault(); usable[0]?.focus(); }
    if (event.key === "End") { event.preventDefault(); usable[usable.length - 1]?.focus(); }
    if (event.key === "Escape" || event.key === "Tab") { event.preventDefault(); event.stopPropagation(); close(); }
  });
  const outside = (event) => { if (!menu.contains(event.target)) close(false); };
  function close(givesBack = true) {
    menu.remove();
    document.removeEventListener("pointerdown", outside, true);
    anchor.setAttribute("aria-expanded", "false");
    closeOpen = null;
    if (givesBack && anchor.isConnected) anchor.focus();
  }
  closeOpen = close;
  document.getElementById("overlays").append(menu);
  place(menu, anchor);
  anchor.setAttribute("aria-expanded", "true");
  document.addEventListener("pointerdown", outside, true);
  (usable.find((one) => one.getAttribute("aria-checked") === "true") ?? usable[0])?.focus();
}

function place(menu, anchor) {
  const at = anchor.getBoundingClientRect();
  const size = menu.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, window.innerWidth - size.width - 8));
  const isBelow = at.bottom + size.height + 8 < window.innerHeight || at.top < size.height;
  menu.style.left = `${left}px`;
  menu.style.top = `${Math.max(8, isBelow ? Math.min(at.bottom + 4, window.innerHeight - size.height - 8) : at.top - size.height - 4)}px`;
}
