// What the person does, as requests to the server.

import { describeError } from "./texts.js";
import { showToast } from "./toast.js";

export async function fetchSetting() {
  const response = await fetch("/page/setting");
  return response.json();
}

// Returns what the server said, or null after telling the person why it did not work.
export async function act(name, values) {
  let said = { error: "unreachable" };
  try {
    const response = await fetch(`/page/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(values),
    });
    said = await response.json();
  } catch {
    // Neither an answer nor JSON: as good as unreachable.
  }
  if (said.error === undefined) return said;
  showToast(describeError(said.error));
  return null;
}
