// The rectangle of two coordinates on the screen. Coordinates of different units have scales of their own.

import { niceStep } from "../format";
import type { Field } from "../wire";
import { type Lens, WHOLE } from "./lens";

/** The size of a picture, the rectangle in it where the field is shown, and the coordinates at its edges. */
export interface FieldView {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly x: readonly [low: number, high: number];
  readonly y: readonly [low: number, high: number];
}

export type Ranges = Pick<Field, "x_low" | "x_high" | "x_unit" | "y_low" | "y_high" | "y_unit">;

/** Room for numbers and the colour key, in pixels. */
const MARGIN = { left: 54, top: 44, right: 46, bottom: 74 } as const;

/** All of a field in a picture, seen through a lens. The same unit on both axes has the same scale. */
export function fieldView(width: number, height: number, field: Ranges, lens: Lens = WHOLE): FieldView {
  let [left, top] = [MARGIN.left as number, MARGIN.top as number];
  let right = Math.max(left + 20, width - MARGIN.right);
  let bottom = Math.max(top + 20, height - MARGIN.bottom);
  const [dx, dy] = [field.x_high - field.x_low, field.y_high - field.y_low];
  if (field.x_unit === field.y_unit) {
    const scale = Math.min((right - left) / dx, (bottom - top) / dy);
    const [spareX, spareY] = [(right - left - scale * dx) / 2, (bottom - top - scale * dy) / 2];
    [left, right, top, bottom] = [left + spareX, right - spareX, top + spareY, bottom - spareY];
  }
  const [sx, sy] = [dx / (right - left), dy / (bottom - top)];
  const [u, v] = [(left + right) / 2, (top + bottom) / 2];
  const x = (px: number): number => field.x_low + sx * (u + (px - u - lens.x) / lens.zoom - left);
  const y = (py: number): number => field.y_high - sy * (v + (py - v - lens.y) / lens.zoom - top);
  return { width, height, left, top, right, bottom, x: [x(left), x(right)], y: [y(bottom), y(top)] };
}

export function toScreen({ left, right, top, bottom, x, y }: FieldView, a: number, b: number): [number, number] {
  return [left + ((a - x[0]) / (x[1] - x[0])) * (right - left), bottom - ((b - y[0]) / (y[1] - y[0])) * (bottom - top)];
}

export function toField({ left, right, top, bottom, x, y }: FieldView, px: number, py: number): [number, number] {
  return [x[0] + ((px - left) / (right - left)) * (x[1] - x[0]), y[0] + ((bottom - py) / (bottom - top)) * (y[1] - y[0])];
}

/** Round numbers along one axis of so many pixels, and how many decimals they need. */
export function fieldTicks([low, high]: readonly [number, number], pixels: number): { values: number[]; decimals: number } {
  const step = niceStep(high - low, Math.max(2, pixels / 80));
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return {
    values: Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step),
    decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)),
  };
}
