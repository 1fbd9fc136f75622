// Keeps the keyboard inside what lies on top, and gives it back afterwards.

const REACHABLE = "a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), [tabindex='0']";

export function listReachable(element) {
  return [...element.querySelectorAll(REACHABLE)].filter((one) => one.offsetParent !== null);
}

export function trapFocus(element, onEscape) {
  const before = document.activeElement;
  const key = (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      onEscape();
    }
    if (event.key !== "Tab") return;
    const reachable = listReachable(element);
    const [first, last] = [reachable[0], reachable[reachable.length - 1]];
    if (event.shiftKey && document.activeElement === first) { event.preventDefault(); last.focus(); }
    if (!event.shiftKey && document.activeElement === last) { event.preventDefault(); first.focus(); }
  };
  element.addEventListener("keydown", key);
  return () => {
    element.removeEventListener("keydown", key);
    if (before?.isConnected) before.focus();
  };
}
