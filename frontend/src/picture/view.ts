// From metres to pixels and back. x grows to the right, y upwards, the origin is in the middle.

import { niceStep } from "../format";

export interface View {
  /** Size of the canvas in CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels per metre. */
  readonly scale: number;
}

/** The largest view that shows a square of half-width `extent` about the origin. */
export function fit(width: number, height: number, extent: number): View {
  return { width, height, scale: Math.min(width, height) / (2 * extent) };
}

export function toPixels(view: View, x: number, y: number): [number, number] {
  return [view.width / 2 + x * view.scale, view.height / 2 - y * view.scale];
}

export function toMetres(view: View, px: number, py: number): [number, number] {
  return [(px - view.width / 2) / view.scale, (view.height / 2 - py) / view.scale];
}

export interface Ticks {
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly decimals: number;
}

/** Round numbers along both axes, about one every ninety pixels. */
export function ticks(view: View): Ticks {
  const step = niceStep(view.height / view.scale, Math.max(2, view.height / 90));
  const upTo = (half: number): number[] => {
    const count = Math.floor(half / step);
    return Array.from({ length: 2 * count + 1 }, (_, i) => (i - count) * step);
  };
  return {
    x: upTo(view.width / view.scale / 2),
    y: upTo(view.height / view.scale / 2),
    decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)),
  };
}
