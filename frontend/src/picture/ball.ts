// A sphere coloured by a function, seen from far away, computed pixel by pixel: it changes when it is turned, not with time.

import type { Basis } from "./camera";
import type { Scale } from "./colourmap";
import { nearZero } from "./sheet";

/** A function on the sphere at the vertices of a grid of polar angle and azimuth; see the notice `surface`. */
export interface Field {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

/** Pixels across, at rest and while the sphere is being turned; more would only cost time, since the colours are smooth. */
export const FINE = 520;
export const COARSE = 200;
/** How much darker the sphere is where it turns away from the light. */
const SHADE = 0.18;
const LIGHT = [-0.35, 0.5, 0.79] as const;
const ZERO = [30, 30, 34] as const;

/** The image of the whole sphere, `diameter` pixels wide; transparent around it. */
export function paintBall(canvas: HTMLCanvasElement, diameter: number, field: Field, scale: Scale, basis: Basis): void {
  const size = Math.max(2, Math.round(diameter));
  Object.assign(canvas, { width: size, height: size });
  const pen = canvas.getContext("2d")!;
  const image = pen.createImageData(size, size);
  const above = new Float32Array(size).fill(NaN);
  for (let j = 0; j < size; j++) {
    const v = 1 - (2 * j + 1) / size;
    let left = NaN;
    for (let i = 0; i < size; i++) {
      const u = (2 * i + 1) / size - 1;
      const far = u * u + v * v;
      if (far > 1.03) {
        left = above[i] = NaN;
        continue;
      }
      // pixels at the edge take the colour of the limb: the canvas cuts the circle out smoothly
      const shrink = far > 1 ? 1 / Math.sqrt(far) : 1;
      const [x, y] = [u * shrink, v * shrink];
      const depth = Math.sqrt(Math.max(0, 1 - x * x - y * y));
      const value = sample(field, basis, x, y, depth);
      const zero = scale.diverging ? nearZero(value, left, above[i]!) : 0;
      left = above[i] = value;
      const lit = 1 - SHADE + SHADE * Math.max(0, LIGHT[0] * x + LIGHT[1] * y + LIGHT[2] * depth);
      const colour = scale.colour(value);
      const at = 4 * (j * size + i);
      for (let k = 0; k < 3; k++) image.data[at + k] = colour[k]! * lit + zero * (ZERO[k]! - colour[k]! * lit);
      image.data[at + 3] = 255;
    }
  }
  pen.putImageData(image, 0, 0);
}

/** The function at the point of the near side with these coordinates to the right, up and toward the eye. */
function sample({ rows, columns, values }: Field, { right, up, toward }: Basis, x: number, y: number, depth: number): number {
  const a = x * right[0] + y * up[0] + depth * toward[0];
  const b = x * right[1] + y * up[1] + depth * toward[1];
  const c = x * right[2] + y * up[2] + depth * toward[2];
  const row = (Math.acos(Math.min(1, Math.max(-1, c))) / Math.PI) * (rows - 1);
  const turn = Math.atan2(b, a) / (2 * Math.PI);
  const column = (turn < 0 ? turn + 1 : turn) * (columns - 1);
  const [i, j] = [Math.min(rows - 2, Math.floor(row)), Math.min(columns - 2, Math.floor(column))];
  const [s, t] = [row - i, column - j];
  const at = i * columns + j;
  return (1 - s) * ((1 - t) * values[at]! + t * values[at + 1]!) + s * ((1 - t) * values[at + columns]! + t * values[at + columns + 1]!);
}
