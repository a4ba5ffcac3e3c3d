// What a picture of a plane is made of, whoever paints it.

import type { Palette } from "../colours";
import type { View } from "./view";

export interface Bob {
  /** Which of the points. */
  readonly point: number;
  /** In metres. */
  readonly radius: number;
  readonly colour: string;
  readonly ghost: boolean;
}

export interface Rod {
  readonly start: number;
  readonly end: number;
  /** Relative stretch, shown by colour and width; null for a rod that keeps its length. */
  readonly strain: number | null;
  readonly ghost: boolean;
}

/** A traced body's recent places; NaN where its path was broken by hand. `age` runs from 0, now, to 1, forgotten. */
export interface Trail {
  readonly colour: string;
  readonly ghost: boolean;
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly age: readonly number[];
}

/** One frame, ready to paint: all lengths in metres. */
export interface Drawing {
  /** Coordinates of each point, `dimension` numbers apiece. */
  readonly points: Float64Array;
  readonly dimension: number;
  readonly anchors: readonly number[];
  readonly bobs: readonly Bob[];
  readonly rods: readonly Rod[];
  readonly trails: readonly Trail[];
}

export interface Picture {
  readonly kind: "webgl" | "canvas";
  readonly canvas: HTMLCanvasElement;
  /** Take a new size, extent or palette. */
  arrange(view: View, palette: Palette): void;
  /** Lines behind everything instead of a square grid: two ends of two numbers each, in metres. */
  rule(lines: readonly number[]): void;
  paint(drawing: Drawing): void;
  dispose(): void;
}

/** Half the width of a rod and of a trail at its head, in pixels: thick enough for the back of a lecture hall. */
export const ROD_HALF_WIDTH = 2.5;
export const SPRING_HALF_WIDTH = 4;
export const TRAIL_HALF_WIDTH = 2;
/** A spring may be white, so it has a dark edge on either side. */
export const EDGE = 1.25;
/** Bodies are ringed in paper, so that they stand off from rods and trails behind them. */
export const RING = 2.5;
/** How much of its colour a ghost keeps. */
export const GHOST = 0.4;

export function pixelRatio(): number {
  return Math.min(window.devicePixelRatio || 1, 2);
}
