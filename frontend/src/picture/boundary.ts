// What encloses a model of a space, as lines behind the bodies.

import type { PictureView } from "../wire";
import { type Basis, dot, type Triple } from "./camera";

type Boundary = PictureView["boundary"];

/** Pieces of a circle. */
const FINENESS = 96;
/** Lines between the two edges of a floor, and upright lines and rings of a cylinder. */
const [FLOOR, UPRIGHT, RINGS] = [8, 12, 3];

/** In a plane: two ends of two numbers for each line. `extent` is half the width that is shown. */
export function planeBoundary(kind: Boundary, extent: number): number[] {
  switch (kind) {
    case "none":
      return [];
    case "ball":
    case "disc":
      return circle((u, v) => [u, v]);
    case "cylinder":
      return [-1, -2 * extent, -1, 2 * extent, 1, -2 * extent, 1, 2 * extent];
    case "floor":
      return [-4 * extent, 0, 4 * extent, 0];
  }
}

/** The same in space, as the camera sees it. */
export function spaceBoundary(kind: Boundary, extent: number, { right, up }: Basis): number[] {
  const flat = (x: number, y: number, z: number): [number, number] => [dot(right, x, y, z), dot(up, x, y, z)];
  const line = (a: Triple, b: Triple): number[] => [...flat(...a), ...flat(...b)];
  switch (kind) {
    case "none":
      return [];
    case "disc":
      return circle((u, v) => flat(u, v, 0));
    case "ball":
      return [
        ...circle((u, v) => [u, v]), // the outline is the same from every side
        ...circle((u, v) => flat(u, v, 0)),
        ...circle((u, v) => flat(u, 0, v)),
        ...circle((u, v) => flat(0, u, v)),
      ];
    case "cylinder": {
      const rings = Array.from({ length: RINGS }, (_, i) => extent * ((2 * i) / (RINGS - 1) - 1));
      const uprights = Array.from({ length: UPRIGHT }, (_, i) => (2 * Math.PI * i) / UPRIGHT);
      return [
        ...rings.flatMap((z) => circle((u, v) => flat(u, v, z))),
        ...uprights.flatMap((turn) => line([Math.cos(turn), Math.sin(turn), -extent], [Math.cos(turn), Math.sin(turn), extent])),
      ];
    }
    case "floor": {
      const ticks = Array.from({ length: FLOOR + 1 }, (_, i) => extent * ((2 * i) / FLOOR - 1));
      return ticks.flatMap((at) => [...line([at, -extent, 0], [at, extent, 0]), ...line([-extent, at, 0], [extent, at, 0])]);
    }
  }
}

function circle(at: (u: number, v: number) => readonly [number, number]): number[] {
  const result: number[] = [];
  for (let i = 0; i < FINENESS; i++) {
    for (const k of [i, i + 1]) {
      const turn = (2 * Math.PI * (k % FINENESS)) / FINENESS; // it ends exactly where it began
      result.push(...at(Math.cos(turn), Math.sin(turn)));
    }
  }
  return result;
}
