// Keys that work wherever the focus is, unless the element in focus has its own use for them.

import { redo, reset, step, togglePlay, undo } from "./commands";

/** Frames that Shift with an arrow key moves. */
const STRIDE = 10;

export function listen(target: Document): void {
  target.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey) return;
    const act = event.ctrlKey || event.metaKey ? withControl(event) : plain(event);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function withControl(event: KeyboardEvent): (() => void) | null {
  if (isTyping(event.target)) return null; // the box has an undo of its own
  const key = event.key.toLowerCase();
  if (key === "z") return event.shiftKey ? redo : undo;
  return key === "y" ? redo : null;
}

function plain(event: KeyboardEvent): (() => void) | null {
  const frames = event.shiftKey ? STRIDE : 1;
  if (isTyping(event.target)) return null;
  switch (event.key) {
    case " ":
      return isButton(event.target) || event.repeat ? null : togglePlay;
    case "ArrowRight":
      return usesArrows(event.target) ? null : () => step(frames, event.repeat);
    case "ArrowLeft":
      return usesArrows(event.target) ? null : () => step(-frames, event.repeat);
    case "r":
      return event.repeat ? null : () => reset(false);
    default:
      return null;
  }
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type === "number";
}

function isButton(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("button, summary, select, input[type=checkbox], a");
}

function usesArrows(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input[type=range], select, [data-body]");
}
