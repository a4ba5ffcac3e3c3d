// A surface given by a grid of points, coloured by a function: triangles with a buffer of depths, computed pixel by pixel.

import { type Basis, dot } from "./camera";
import type { Scale } from "./colourmap";

/** Rows of vertices one after the other, each with a place of three numbers and a value. */
export interface Sheet {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
  readonly points: Float32Array;
}

/** What was seen of a sheet: how near to the eye its nearest part is at each pixel of a square. */
export interface Depths {
  readonly size: number;
  /** Half the width of the square, in the sheet's units. */
  readonly extent: number;
  /** −∞ where there is nothing. */
  readonly values: Float32Array;
}

/** How dark the surface is where it turns its edge to the eye. */
const SHADE = 0.42;
const LIGHT = [-0.35, 0.5, 0.79] as const;
const ZERO = [30, 30, 34] as const;

/** The largest distance from the origin. */
export function reachOf({ points }: Sheet): number {
  let most = 0;
  for (let i = 0; i + 2 < points.length; i += 3) most = Math.max(most, Math.hypot(points[i]!, points[i + 1]!, points[i + 2]!));
  return most || 1;
}

/** Unit normals at the vertices, from the differences of their neighbours along both sides of the grid. */
export function normalsOf({ rows, columns, points }: Sheet): Float32Array {
  const result = new Float32Array(points.length);
  const difference = (a: number, b: number, axis: number): number => points[3 * b + axis]! - points[3 * a + axis]!;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const [up, down] = [Math.max(0, i - 1) * columns + j, Math.min(rows - 1, i + 1) * columns + j];
      const [left, right] = [i * columns + Math.max(0, j - 1), i * columns + Math.min(columns - 1, j + 1)];
      const [ax, ay, az] = [difference(up, down, 0), difference(up, down, 1), difference(up, down, 2)];
      const [bx, by, bz] = [difference(left, right, 0), difference(left, right, 1), difference(left, right, 2)];
      const n = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx] as const;
      const length = Math.hypot(...n) || 1;
      result.set([n[0] / length, n[1] / length, n[2] / length], 3 * (i * columns + j));
    }
  }
  return result;
}

/** One vertex as the camera sees it: pixels to the right and down, depth toward the eye, value, brightness. */
type Corner = readonly [x: number, y: number, depth: number, value: number, light: number];

/** The image of a sheet, `size` pixels for twice `extent`; transparent around it. */
export function paintSheet(
  canvas: HTMLCanvasElement,
  size: number,
  extent: number,
  sheet: Sheet,
  normals: Float32Array,
  scale: Scale,
  basis: Basis,
): Depths {
  const { rows, columns } = sheet;
  Object.assign(canvas, { width: size, height: size });
  const pen = canvas.getContext("2d")!;
  const image = pen.createImageData(size, size);
  const [depths, values] = [new Float32Array(size * size).fill(-Infinity), new Float32Array(size * size).fill(NaN)];
  const light = new Float32Array(size * size);
  const corners = seen(sheet, normals, basis, size, extent);
  for (let i = 0; i + 1 < rows; i++) {
    for (let j = 0; j + 1 < columns; j++) {
      const at = i * columns + j;
      const [a, b, c, d] = [corners[at]!, corners[at + 1]!, corners[at + columns]!, corners[at + columns + 1]!];
      fill(a, b, c, size, depths, values, light);
      fill(b, d, c, size, depths, values, light);
    }
  }
  for (let k = 0; k < size * size; k++) {
    const value = values[k]!;
    if (Number.isNaN(value)) continue;
    const zero = scale.diverging && k % size > 0 && k >= size ? nearZero(value, values[k - 1]!, values[k - size]!) : 0;
    const colour = scale.colour(value);
    for (let part = 0; part < 3; part++) {
      const lit = colour[part]! * light[k]!;
      image.data[4 * k + part] = lit + zero * (ZERO[part]! - lit);
    }
    image.data[4 * k + 3] = 255;
  }
  pen.putImageData(image, 0, 0);
  return { size, extent, values: depths };
}

/** How near to the eye the sheet is at a place of the picture; −∞ beside it. */
export function depthAt({ size, extent, values }: Depths, right: number, up: number): number {
  const [i, j] = [Math.floor(((right / extent + 1) * size) / 2), Math.floor(((1 - up / extent) * size) / 2)];
  return i >= 0 && i < size && j >= 0 && j < size ? values[j * size + i]! : -Infinity;
}

function seen({ values, points }: Sheet, normals: Float32Array, basis: Basis, size: number, extent: number): Corner[] {
  return Array.from(values, (value, i): Corner => {
    const place = [points[3 * i]!, points[3 * i + 1]!, points[3 * i + 2]!] as const;
    const normal = [normals[3 * i]!, normals[3 * i + 1]!, normals[3 * i + 2]!] as const;
    const facing = dot(basis.toward, ...normal);
    const flip = facing < 0 ? -1 : 1; // both sides are seen
    const lit = flip * (LIGHT[0] * dot(basis.right, ...normal) + LIGHT[1] * dot(basis.up, ...normal) + LIGHT[2] * facing);
    return [
      ((dot(basis.right, ...place) / extent + 1) * size) / 2,
      ((1 - dot(basis.up, ...place) / extent) * size) / 2,
      dot(basis.toward, ...place),
      value,
      1 - SHADE + SHADE * Math.max(0, lit),
    ];
  });
}

/** The pixels of a triangle that are nearer to the eye than what was there. */
function fill(a: Corner, b: Corner, c: Corner, size: number, depths: Float32Array, values: Float32Array, light: Float32Array): void {
  const area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  if (!(Math.abs(area) > 1e-9)) return; // on edge, or without a place
  const left = Math.max(0, Math.ceil(Math.min(a[0], b[0], c[0]) - 0.5));
  const right = Math.min(size - 1, Math.floor(Math.max(a[0], b[0], c[0]) + 0.5));
  const top = Math.max(0, Math.ceil(Math.min(a[1], b[1], c[1]) - 0.5));
  const bottom = Math.min(size - 1, Math.floor(Math.max(a[1], b[1], c[1]) + 0.5));
  for (let y = top; y <= bottom; y++) {
    for (let x = left; x <= right; x++) {
      const [px, py] = [x + 0.5, y + 0.5];
      const v = ((px - a[0]) * (c[1] - a[1]) - (py - a[1]) * (c[0] - a[0])) / area;
      const w = ((b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0])) / area;
      const u = 1 - v - w;
      if (u < -1e-6 || v < -1e-6 || w < -1e-6) continue;
      const depth = u * a[2] + v * b[2] + w * c[2];
      const k = y * size + x;
      if (depth <= depths[k]!) continue;
      depths[k] = depth;
      values[k] = u * a[3] + v * b[3] + w * c[3];
      light[k] = u * a[4] + v * b[4] + w * c[4];
    }
  }
}

/** How much of a pixel the line along which the function vanishes covers; judged by its neighbours to the left and above. */
export function nearZero(value: number, left: number, above: number): number {
  const slope = Math.hypot(value - left, value - above);
  return slope > 0 ? Math.max(0, 1 - (1.2 * Math.abs(value)) / slope) : 0; // NaN beside the surface is not above 0
}
