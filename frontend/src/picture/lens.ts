// How the user has zoomed and moved a picture, on top of the view that shows all of it.

import type { View } from "./view";

/** A pixel at p of the view that shows all is drawn at middle + zoom (p − middle) + (x, y). */
export interface Lens {
  readonly zoom: number;
  readonly x: number;
  readonly y: number;
}

export const WHOLE: Lens = { zoom: 1, x: 0, y: 0 };

const [LEAST, MOST] = [0.1, 200];

/** Zoom about a pixel, which stays where it is. `width` and `height` are those of the picture. */
export function zoomed(lens: Lens, factor: number, [px, py]: readonly [number, number], width: number, height: number): Lens {
  const zoom = Math.min(MOST, Math.max(LEAST, lens.zoom * factor));
  const by = zoom / lens.zoom;
  const [u, v] = [px - width / 2, py - height / 2];
  return { zoom, x: u - (u - lens.x) * by, y: v - (v - lens.y) * by };
}

export function moved(lens: Lens, dx: number, dy: number): Lens {
  return { ...lens, x: lens.x + dx, y: lens.y + dy };
}

export function through(view: View, { zoom, x, y }: Lens): View {
  const scale = view.scale * zoom;
  return { ...view, scale, x: view.x - x / scale, y: view.y + y / scale };
}
