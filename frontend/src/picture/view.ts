// From metres to pixels and back. x grows to the right, y upwards.

import { niceStep } from "../format";

export interface View {
  /** Size of the canvas in CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels per metre. */
  readonly scale: number;
  /** The place in the middle of the canvas. */
  readonly x: number;
  readonly y: number;
}

/** Until the size of the canvas is known. */
export const NO_VIEW: View = { width: 1, height: 1, scale: 1, x: 0, y: 0 };

/** The largest view that shows a square of half-width `extent` about the origin. */
export function fit(width: number, height: number, extent: number): View {
  return { width, height, scale: Math.min(width, height) / (2 * extent), x: 0, y: 0 };
}

/** The same with so many pixels free above the square, which lies no lower than that needs. */
export function below(free: number, width: number, height: number, extent: number): View {
  const { scale } = fit(width, Math.max(1, height - free), extent);
  return { width, height, scale, x: 0, y: Math.max(0, extent + (free - height / 2) / scale) };
}

export function toPixels(view: View, x: number, y: number): [number, number] {
  return [view.width / 2 + (x - view.x) * view.scale, view.height / 2 - (y - view.y) * view.scale];
}

export function toMetres(view: View, px: number, py: number): [number, number] {
  return [view.x + (px - view.width / 2) / view.scale, view.y + (view.height / 2 - py) / view.scale];
}

export interface Ticks {
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly decimals: number;
}

/** Round numbers along both axes, about one every ninety pixels. */
export function ticks(view: View): Ticks {
  const step = niceStep(view.height / view.scale, Math.max(2, view.height / 90));
  const along = (middle: number, half: number): number[] => {
    const [first, last] = [Math.ceil((middle - half) / step), Math.floor((middle + half) / step)];
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step);
  };
  return {
    x: along(view.x, view.width / view.scale / 2),
    y: along(view.y, view.height / view.scale / 2),
    decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)),
  };
}
