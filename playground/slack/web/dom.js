// Builds elements. Text only ever becomes a text node, so nothing that people or pages write is markup.

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name in PROPERTIES) element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

const PROPERTIES = { value: true, checked: true, disabled: true, selected: true, hidden: true, tabIndex: true };

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function replaceChildren(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

// Only addresses of the web and of mail lead anywhere; `javascript:` and the like stay text.
export function isSafeAddress(address) {
  return /^(https?:\/\/|mailto:)/i.test(address);
}

export function link(address, ...children) {
  if (!isSafeAddress(address)) return h("span", {}, ...children);
  return h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, ...children);
}

// Tells screen readers, without moving anything.
export function announce(text) {
  const place = document.getElementById("announcer");
  place.textContent = "";
  requestAnimationFrame(() => { place.textContent = text; });
}

export function unique(prefix) {
  unique.last = (unique.last || 0) + 1;
  return `${prefix}-${unique.last}`;
}
