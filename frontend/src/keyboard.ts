// Keys that work wherever the focus is, unless the element in focus has its own use for them.

import { redo, reset, step, togglePlay, undo } from "./commands";
import type { CommandType } from "./source";
import type { Studio } from "./studio";

/** Frames that Shift with an arrow key moves. */
const STRIDE = 10;

type Entry = readonly [keys: string, does: string, needs: CommandType | null];

const KEYS: readonly Entry[] = [
  ["Space bar", "let time run, or hold it", "play"],
  ["→  ←", "one frame forward or back; with Shift ten; held down, on and on", "step"],
  ["Tab, then arrows", "take a body and move it; with Shift farther; Page Up and Page Down take the next one", "drag-begin"],
  ["Ctrl Z,  Ctrl Shift Z", "undo, redo", "undo"],
  ["R,  Shift R", "back to the start; restore the defaults too", "reset"],
  ["T", "trails on or off", null],
  ["+  −  0", "in a picture: nearer, farther, all of it; wheel, pinch and double click do the same", null],
  ["E", "equations of motion", "ask-equations"],
  ["P", "presentation on or off: the picture alone, in large type", "share"],
  ["?", "this page", null],
];

/** What each key does here, for the page that explains them. */
export function keysOf(studio: Studio): readonly Entry[] {
  return KEYS.filter(([, , needs]) => needs === null || studio.can(needs));
}

/** Actions of the page itself that keys can start. */
export interface Shortcuts {
  help(): void;
  equations(): void;
  present(): void;
}

export function listen(target: Document | HTMLElement, studio: Studio, shortcuts: Shortcuts): () => void {
  const press = (event: Event): void => {
    if (!(event instanceof KeyboardEvent) || event.defaultPrevented || event.altKey || inDialog(event.target)) return;
    const act = event.ctrlKey || event.metaKey ? withControl(event, studio) : plain(event, studio, shortcuts);
    if (!act) return;
    event.preventDefault();
    act();
  };
  target.addEventListener("keydown", press);
  return () => target.removeEventListener("keydown", press);
}

function withControl(event: KeyboardEvent, studio: Studio): (() => void) | null {
  if (isTyping(event.target)) return null; // the box has an undo of its own
  const key = event.key.toLowerCase();
  if (key === "z") return () => (event.shiftKey ? redo : undo)(studio);
  return key === "y" ? () => redo(studio) : null;
}

function plain(event: KeyboardEvent, studio: Studio, shortcuts: Shortcuts): (() => void) | null {
  const frames = event.shiftKey ? STRIDE : 1;
  if (isTyping(event.target)) return null;
  switch (event.key) {
    case " ":
      return isButton(event.target) || event.repeat ? null : () => togglePlay(studio);
    case "ArrowRight":
      return usesArrows(event.target) ? null : () => step(studio, frames, event.repeat);
    case "ArrowLeft":
      return usesArrows(event.target) ? null : () => step(studio, -frames, event.repeat);
  }
  if (event.repeat || isList(event.target)) return null; // in a list, letters look for an entry
  switch (event.key) {
    case "r":
    case "R":
      return () => reset(studio, event.shiftKey);
    case "t":
      return () => (studio.trailsShown.value = !studio.trailsShown.value);
    case "e":
      return studio.can("ask-equations") ? shortcuts.equations : null;
    case "p":
      return shortcuts.present;
    case "?":
      return shortcuts.help;
    default:
      return null;
  }
}

function inDialog(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("dialog") !== null;
}

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLTextAreaElement) return true;
  return target instanceof HTMLInputElement && !["range", "checkbox", "radio"].includes(target.type);
}

function isList(target: EventTarget | null): boolean {
  return target instanceof HTMLSelectElement;
}

function isButton(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("button, summary, select, input[type=checkbox], a");
}

function usesArrows(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input[type=range], select, [data-body]");
}
