// What a picture is made of, whoever paints it.

import type { Palette } from "../colours";
import type { RodView } from "../wire";
import type { View } from "./view";

/** One frame, ready to paint: all lengths in metres. */
export interface Drawing {
  /** x, y of each point: anchors first, then bodies. */
  readonly points: Float64Array;
  readonly dimension: number;
  readonly anchors: number;
  readonly rods: readonly RodView[];
  readonly radii: readonly number[];
  readonly trail: Trail;
}

/** The traced body's recent places; null where its path was broken by hand. `age` runs from 0, now, to 1, forgotten. */
export interface Trail {
  readonly body: number;
  readonly x: readonly (number | null)[];
  readonly y: readonly (number | null)[];
  readonly age: readonly number[];
}

export const NO_TRAIL: Trail = { body: 0, x: [], y: [], age: [] };

export interface Picture {
  readonly kind: "webgl" | "canvas";
  /** Take a new size, extent or palette. */
  arrange(view: View, palette: Palette): void;
  paint(drawing: Drawing): void;
  dispose(): void;
}

/** Half the width of a rod and of a trail at its head, in pixels: thick enough for the back of a lecture hall. */
export const ROD_HALF_WIDTH = 2.5;
export const TRAIL_HALF_WIDTH = 2;
/** Bodies are ringed in paper, so that they stand off from rods and trails behind them. */
export const RING = 2.5;

export function pixelRatio(): number {
  return Math.min(window.devicePixelRatio || 1, 2);
}
