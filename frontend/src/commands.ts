// What buttons and keys do, said once.

import { controls, send } from "./store";
import { limits } from "./wire";

export function togglePlay(): void {
  send({ type: controls.value?.playing ? "pause" : "play" });
}

export function step(frames: number, repeat: boolean): void {
  send({ type: "step", frames, repeat });
}

export function undo(): void {
  if (controls.value?.undo) send({ type: "undo" });
}

export function redo(): void {
  if (controls.value?.redo) send({ type: "redo" });
}

export function reset(defaults: boolean): void {
  send({ type: "reset", defaults });
}

/** Bring a body to (x, y), as one whole drag. */
export function place(body: number, x: number, y: number): void {
  send({ type: "drag-begin", body });
  moveTo(x, y);
  send({ type: "drag-end", x: 0, y: 0, z: 0 });
}

export function moveTo(x: number, y: number): void {
  const [low, high] = limits.DragMove_x;
  const within = (value: number): number => Math.min(high, Math.max(low, value));
  send({ type: "drag-move", x: within(x), y: within(y), z: 0 });
}
