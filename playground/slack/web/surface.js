// Where blocks stand: a message or a view. Keeps what was chosen, and tells the server.

import { act } from "./actions.js";
import { unique } from "./dom.js";

export class Surface {
  constructor(user, live, kind, where) {
    Object.assign(this, { user, live, kind, where });
    this.values = new Map();
    this.prefix = unique("at");
  }

  id(path) {
    return `${this.prefix}-${path.replace("/", "-")}`;
  }

  rooms() {
    return this.live.list("room/").filter(([, room]) => room.is_member).map(([id]) => id);
  }

  press(path, element, choice) {
    return act(this.kind === "message" ? "press" : "press_in_view", {
      as: this.user, ...this.where(), path, action_id: element.action_id ?? "", choice, choices: Object.fromEntries(this.values),
    });
  }

  submit() {
    return act("submit", { as: this.user, ...this.where(), choices: Object.fromEntries(this.values) });
  }
}
