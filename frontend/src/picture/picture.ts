// What a picture of a plane is made of, whoever paints it.

import { signal } from "@preact/signals";
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

/** A line of constant width on the screen through places of two numbers each; it is broken where one is NaN. */
export interface Stroke {
  readonly kind: "stroke";
  readonly points: Float64Array;
  readonly closed: boolean;
  /** In pixels. */
  readonly width: number;
  readonly dashed: boolean;
  readonly colour: string;
  readonly opacity: number;
}

/** A filled polygon, or triangles of its points. */
export interface Area {
  readonly kind: "area";
  readonly points: Float64Array;
  /** Three points for each triangle, those behind first; null for the polygon itself. */
  readonly faces: readonly number[] | null;
  /** How bright each triangle is; null for the full colour. */
  readonly light: Float32Array | null;
  readonly colour: string;
  readonly opacity: number;
}

export interface Disc {
  readonly kind: "disc";
  readonly x: number;
  readonly y: number;
  /** In metres. */
  readonly radius: number;
  readonly colour: string;
  readonly opacity: number;
}

/** What shapes are painted with, those behind first. */
export type Mark = Stroke | Area | Disc;

/** Words at a place of the picture; they are written over it, not painted. */
export interface Label {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly colour: string;
  readonly ghost: boolean;
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
  readonly marks: readonly Mark[];
  readonly labels: readonly Label[];
}

export interface Picture {
  readonly kind: "webgl" | "canvas";
  readonly canvas: HTMLCanvasElement;
  /** Take a new size, extent or palette. */
  arrange(view: View, palette: Palette): void;
  /** Take a view of the same size: this costs little, and may happen in every frame. */
  look(view: View): void;
  /** Lines behind everything instead of a square grid: two ends of two numbers each, in metres. */
  rule(lines: readonly number[], colour: string): void;
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
const RING = 2.5;
/** Bodies with a radius of so many pixels have their whole ring and rods of full width; those with the other, none. */
const [WHOLE_BOB, SPECK] = [6, 2];
/** The least part of the width of a rod. */
const THINNEST = 0.4;

/** The width of the ring around a body of so many pixels: around a speck it would hide the rods. */
export function ringOf(radius: number): number {
  return RING * Math.min(1, Math.max(0, (radius - SPECK) / (WHOLE_BOB - SPECK)));
}

/** The part of their width that rods have between bodies as small as these, so that many short ones look like a chain. */
export function slimness(bobs: readonly Bob[], scale: number): number {
  let smallest = Infinity;
  for (const { radius } of bobs) if (radius > 0) smallest = Math.min(smallest, radius * scale);
  return Math.min(1, Math.max(THINNEST, smallest / WHOLE_BOB));
}

/** How much of its colour a ghost keeps. */
export const GHOST = 0.4;

/** The pieces of a dashed line and the gaps between them, in pixels. */
export const DASH = 9;
export const GAP = 6;

/** What `atRatio` asks for meanwhile. A signal, so that pictures which were arranged for another ratio follow. */
const asked = signal<number | null>(null);

export function pixelRatio(): number {
  return asked.value ?? Math.min(window.devicePixelRatio || 1, 2);
}

/** Do something while pictures have this many pixels to one of the page. */
export function atRatio<Result>(ratio: number, act: () => Result): Result {
  asked.value = ratio;
  try {
    return act();
  } finally {
    asked.value = null;
  }
}
