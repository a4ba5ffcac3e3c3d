// A function of two coordinates as colours, and the lines along which it has one value.

import { niceStep } from "../format";
import type { Scale } from "./colourmap";

/** Values on a grid, row by row from the lowest y, each row from the lowest x; NaN where there is none. */
export interface Grid {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

export interface Contour {
  readonly level: number;
  /** Two ends of two numbers for each piece, as fractions of the width and of the height from the lowest corner. */
  readonly pieces: Float32Array;
}

/** Pixels of the image along its longer side; more would not be seen, since colours between them are smooth. */
const PIXELS = 512;
const LEVELS = 9;

/** Paint the whole field; a pixel whose surroundings have no value is transparent. */
export function paintHeatmap(canvas: HTMLCanvasElement, { rows, columns, values }: Grid, scale: Scale): void {
  const longer = Math.max(rows, columns);
  const [wide, high] = [Math.max(2, Math.round((PIXELS * columns) / longer)), Math.max(2, Math.round((PIXELS * rows) / longer))];
  Object.assign(canvas, { width: wide, height: high });
  const pen = canvas.getContext("2d")!;
  const image = pen.createImageData(wide, high);
  for (let j = 0; j < high; j++) {
    const row = (1 - j / (high - 1)) * (rows - 1);
    const i = Math.min(rows - 2, Math.floor(row));
    const s = row - i;
    for (let k = 0; k < wide; k++) {
      const column = (k / (wide - 1)) * (columns - 1);
      const c = Math.min(columns - 2, Math.floor(column));
      const t = column - c;
      const at = i * columns + c;
      const low = (1 - t) * values[at]! + t * values[at + 1]!;
      const value = (1 - s) * low + s * ((1 - t) * values[at + columns]! + t * values[at + columns + 1]!);
      if (Number.isNaN(value)) continue;
      const pixel = 4 * (j * wide + k);
      image.data.set(scale.colour(value), pixel);
      image.data[pixel + 3] = 255;
    }
  }
  pen.putImageData(image, 0, 0);
}

/** Lines at round levels between two values; zero is among them if it lies between. */
export function contours(grid: Grid, low: number, high: number): Contour[] {
  if (!(high > low)) return [];
  const step = niceStep(high - low, LEVELS);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  const levels = Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step);
  return levels.map((level) => ({ level, pieces: contour(grid, level) })).filter(({ pieces }) => pieces.length > 0);
}

/** The pieces of one line: in each cell, between the places where the value crosses the level along its sides. */
export function contour({ rows, columns, values }: Grid, level: number): Float32Array {
  const found: number[] = [];
  for (let i = 0; i + 1 < rows; i++) {
    for (let j = 0; j + 1 < columns; j++) {
      const at = i * columns + j;
      const corners = [values[at]!, values[at + 1]!, values[at + columns + 1]!, values[at + columns]!];
      const crossings = corners.flatMap((a, side) => {
        const b = corners[(side + 1) % 4]!;
        if (a < level === b < level || Number.isNaN(a - b)) return [];
        const u = (level - a) / (b - a);
        // The sides in order: below, right, above (backwards), left (downwards).
        const [x, y] = [[u, 0] as const, [1, u] as const, [1 - u, 1] as const, [0, 1 - u] as const][side]!;
        return [(j + x) / (columns - 1), (i + y) / (rows - 1)];
      });
      // A saddle has four crossings; they are joined in the order of the sides, which is one of two ways that fit.
      for (let k = 0; k + 3 < crossings.length; k += 4) found.push(...crossings.slice(k, k + 4));
    }
  }
  return Float32Array.from(found);
}
