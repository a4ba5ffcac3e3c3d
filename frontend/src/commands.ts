// What buttons and keys do, said once.

import type { Studio } from "./studio";
import { limits } from "./wire";

export function togglePlay(studio: Studio): void {
  studio.send({ type: studio.controls.value?.playing ? "pause" : "play" });
}

export function step(studio: Studio, frames: number, repeat: boolean): void {
  studio.send({ type: "step", frames, repeat });
}

export function undo(studio: Studio): void {
  if (studio.controls.value?.undo) studio.send({ type: "undo" });
}

export function redo(studio: Studio): void {
  if (studio.controls.value?.redo) studio.send({ type: "redo" });
}

export function reset(studio: Studio, defaults: boolean): void {
  studio.send({ type: "reset", defaults });
}

export function moveTo(studio: Studio, x: number, y: number, z = 0): void {
  const [low, high] = limits.DragMove_x;
  const inside = (value: number): number => Math.min(high, Math.max(low, value));
  studio.send({ type: "drag-move", x: inside(x), y: inside(y), z: inside(z) });
}
