// Interactive elements of blocks.

import { renderText } from "./blocks.js";
import { confirm } from "./dialog.js";
import { h, isSafeAddress } from "./dom.js";
import { openMenu } from "./menu.js";
import { findRoom, listPeople } from "./names.js";
import { t } from "./texts.js";

// `field` says how an element stands in an input block; elsewhere a choice is told at once.
export function renderElement(element, path, surface, field = null) {
  const build = BUILDERS[element.type];
  if (!build) return h("p", { class: "faint" }, t("unsupported", { type: element.type }));
  return build(element, new Place(element, path, surface, field));
}

class Place {
  constructor(element, path, surface, field) {
    Object.assign(this, { element, path, surface, field });
    this.id = surface.id(path);
  }

  get attributes() {
    return {
      id: this.id,
      data: { path: this.path },
      "aria-describedby": this.field?.described ?? null,
      "aria-required": this.field?.isRequired ? "true" : null,
      "aria-labelledby": this.field ? `${this.id}-label` : null,
    };
  }

  get chosen() {
    return this.surface.values.get(this.path) ?? readInitial(this.element);
  }

  choose(choice) {
    this.surface.values.set(this.path, choice);
    if (!this.field || this.field.dispatches) this.press(choice);
  }

  async press(choice = null) {
    const asked = this.element.confirm;
    if (asked && !(await confirm(asked))) return;
    await this.surface.press(this.path, this.element, choice);
  }
}

function readInitial(element) {
  if (element.initial_option) return element.initial_option.value;
  if (element.initial_options) return element.initial_options.map((one) => one.value);
  return element.initial_value ?? element.initial_date ?? element.initial_user ?? element.initial_users ?? null;
}

function button(place, content, choice, extra = {}) {
  const made = h("button", {
    type: "button",
    class: `button ${place.element.style ?? ""}`,
    data: { path: place.path },
    ...extra,
    onclick: async () => {
      made.classList.add("busy");
      made.setAttribute("aria-busy", "true");
      await place.press(choice);
      made.classList.remove("busy");
      made.removeAttribute("aria-busy");
    },
  }, content);
  return made;
}

const BUILDERS = {
  button(element, place) {
    const made = button(place, renderText(element.text), null, { id: place.id, "aria-label": element.accessibility_label });
    if (element.url && isSafeAddress(element.url)) made.addEventListener("click", () => window.open(element.url, "_blank", "noopener"));
    return made;
  },
  icon_button(element, place) {
    return button(place, renderText(element.text), null, { class: "button quiet", "aria-label": element.accessibility_label });
  },
  feedback_buttons(element, place) {
    const one = (part, mark) => button(place, [h("span", { "aria-hidden": "true" }, `${mark} `), ...renderText(part.text)],
      part.value ?? null, { class: "button quiet", "aria-label": part.accessibility_label });
    return h("span", { class: "pair" }, one(element.positive_button, "👍"), one(element.negative_button, "👎"));
  },
  overflow(element, place) {
    const made = h("button", {
      type: "button", class: "button quiet", "aria-label": t("more"), "aria-haspopup": "menu", data: { path: place.path }, id: place.id,
      onclick: () => openMenu(made, element.options.map((option) => ({
        label: option.text.text, choose: () => place.press(option.value),
      }))),
    }, "⋯");
    return made;
  },
  static_select(element, place) {
    const options = (list) => list.map((one) => h("option", { value: one.value, selected: one.value === place.chosen }, one.text.text));
    const groups = (element.option_groups ?? []).map((group) => h("optgroup", { label: group.label.text }, ...options(group.options)));
    return select(place, [...options(element.options ?? []), ...groups]);
  },
  users_select(element, place) {
    const people = listPeople().filter((one) => one.kind !== "bot");
    return select(place, people.map((one) => h("option", { value: one.id, selected: one.id === place.chosen }, one.real_name)));
  },
  conversations_select(element, place) {
    const rooms = place.surface.rooms().map((id) => findRoom(id)).filter((room) => room?.name);
    return select(place, rooms.map((room) => h("option", { value: room.id, selected: room.id === place.chosen }, `#${room.name}`)));
  },
  multi_users_select(element, place) {
    const options = listPeople().filter((one) => one.kind !== "bot").map((one) => ({ value: one.id, text: { type: "plain_text", text: one.real_name } }));
    return ticks({ ...element, options }, place, "checkbox");
  },
  multi_static_select: (element, place) => ticks(element, place, "checkbox"),
  checkboxes: (element, place) => ticks(element, place, "checkbox"),
  radio_buttons: (element, place) => ticks(element, place, "radio"),
  datepicker(element, place) {
    return h("input", { ...place.attributes, type: "date", class: "entry", value: place.chosen ?? "",
      onchange: (event) => place.choose(event.target.value || null) });
  },
  plain_text_input(element, place) {
    const made = h(element.multiline ? "textarea" : "input", {
      ...place.attributes, class: "entry", rows: element.multiline ? "5" : null, type: element.multiline ? null : "text",
      maxlength: element.max_length ?? 3000, minlength: element.min_length ?? null, value: place.chosen ?? "",
      placeholder: element.placeholder?.text, autofocus: element.focus_on_load ? true : null,
    });
    made.addEventListener("input", () => place.surface.values.set(place.path, made.value || null));
    made.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !element.multiline && place.field?.dispatches && !event.isComposing) {
        event.preventDefault();
        place.choose(made.value || null);
      }
    });
    return made;
  },
};

function select(place, options) {
  const empty = h("option", { value: "" }, place.element.placeholder?.text ?? t("choose_option"));
  return h("select", { ...place.attributes, class: "entry", "aria-label": place.field ? null : place.element.placeholder?.text ?? t("choose_option"),
    onchange: (event) => place.choose(event.target.value || null) }, empty, ...options);
}

function ticks(element, place, type) {
  const isMany = type === "checkbox";
  const boxes = element.options.map((option, index) => {
    const isChosen = isMany ? (place.chosen ?? []).includes(option.value) : place.chosen === option.value;
    const box = h("input", { type, name: place.id, value: option.value, checked: isChosen, id: `${place.id}-${index}`, onchange: tell });
    return [box, h("label", { class: "tick", for: `${place.id}-${index}` }, box,
      h("span", {}, ...renderText(option.text), option.description && h("span", { class: "hint" }, ...renderText(option.description))))];
  });
  function tell() {
    const chosen = boxes.map(([box]) => box).filter((box) => box.checked).map((box) => box.value);
    place.choose(isMany ? chosen : chosen[0] ?? null);
  }
  return h("div", { ...place.attributes, class: "ticks", role: isMany ? "group" : "radiogroup" }, ...boxes.map(([, label]) => label));
}
