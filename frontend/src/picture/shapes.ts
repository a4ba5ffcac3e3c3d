// From the shapes of a lab, which go through a frame's points, to what is painted.

import { bodyColour, type Palette } from "../colours";
import type { Frame, LabView, PictureView, ShapeView } from "../wire";
import { type Disc, GHOST, type Label, type Mark } from "./picture";

/** Pixels: the width of a line, and the length and half-width of an arrow's head. */
const LINE = 2.5;
const [HEAD, BARB] = [13, 5.5];
/** An arrow shorter than this many pixels points nowhere, and is not drawn. */
const SHORTEST = 3;
/** The smallest radius of a disc, in pixels. */
const SPOT = 3.5;
/** How much of their colour what is filled has: what lies behind shows through. */
const FILL = { polygon: 0.28, mesh: 0.35, solid: 0.94 } as const;
/** Where the light comes from in space: right, up and toward the eye. It has the length 1. */
const LIGHT = [-0.37, 0.53, 0.76] as const;
/** How bright a triangle is that the light only grazes. */
const DARKEST = 0.45;

/** All shapes of one picture but the labels, those behind first. `pixel` is the width of one in metres. */
export function marksOf(frame: Frame, view: LabView, picture: number, palette: Palette, pixel: number): Mark[] {
  const own = view.shapes.filter((shape) => shape.picture === picture && shape.kind !== "label");
  if (own.length === 0) return [];
  const solid = isSolid(view.pictures[picture]);
  const entries = own.map((shape) => ({ shape, depth: solid ? depthOf(frame, shape) : 0 }));
  // Array.sort is stable, so shapes of one depth stay in the lab's order; ghosts lie behind all others.
  entries.sort((a, b) => Number(b.shape.ghost) - Number(a.shape.ghost) || a.depth - b.depth);
  return entries.flatMap(({ shape }) => marksOfShape(frame, shape, bodyColour(palette, shape.colour), pixel, solid));
}

export function labelsOf(frame: Frame, view: LabView, picture: number, palette: Palette): Label[] {
  return view.shapes.flatMap((shape) => {
    if (shape.kind !== "label" || shape.picture !== picture) return [];
    const at = shape.first * frame.dimension;
    const [x, y] = [frame.position[at] ?? NaN, frame.position[at + 1] ?? NaN];
    // A colour of a body is chosen for areas; words in the first one, the default, are in ink.
    const colour = shape.colour === 0 ? palette.ink : bodyColour(palette, shape.colour);
    return Number.isFinite(x) && Number.isFinite(y) ? [{ text: shape.text, x, y, colour, ghost: shape.ghost }] : [];
  });
}

function isSolid(picture: PictureView | undefined): boolean {
  return picture?.kind === "space" || picture?.kind === "surface";
}

function marksOfShape(frame: Frame, shape: ShapeView, colour: string, pixel: number, solid: boolean): Mark[] {
  const points = flatPoints(frame, shape);
  const opacity = shape.ghost ? GHOST : 1;
  const line = { kind: "stroke", points, width: LINE, dashed: shape.dashed, colour, opacity } as const;
  switch (shape.kind) {
    case "polyline":
      return [{ ...line, closed: false }];
    case "polygon":
      return [
        { kind: "area", points, faces: null, light: null, colour, opacity: FILL.polygon * opacity },
        { ...line, closed: true },
      ];
    case "arrow":
      return arrow(points, colour, opacity, pixel, shape.dashed);
    case "disc":
      return discs(points, Math.max(shape.radius, SPOT * pixel), colour, opacity);
    case "mesh":
      return mesh(frame, shape, points, colour, opacity, solid);
    case "label":
      return [];
  }
}

/** The first two coordinates of a shape's points. */
function flatPoints({ position, dimension }: Frame, { first, count }: ShapeView): Float64Array {
  const points = new Float64Array(2 * count);
  for (let i = 0; i < count; i++) {
    const at = (first + i) * dimension;
    points[2 * i] = position[at] ?? NaN;
    points[2 * i + 1] = position[at + 1] ?? NaN;
  }
  return points;
}

/** How near to the eye a shape is in the middle; the third coordinate of the points is toward it. */
function depthOf({ position, dimension }: Frame, { first, count }: ShapeView): number {
  let sum = 0;
  let found = 0;
  for (let i = first; i < first + count; i++) {
    const depth = position[i * dimension + 2] ?? 0;
    if (!Number.isFinite(depth)) continue;
    sum += depth;
    found++;
  }
  return found > 0 ? sum / found : 0;
}

function discs(points: Float64Array, radius: number, colour: string, opacity: number): Disc[] {
  const result: Disc[] = [];
  for (let i = 0; i + 1 < points.length; i += 2) {
    const [x, y] = [points[i]!, points[i + 1]!];
    if (Number.isFinite(x) && Number.isFinite(y)) result.push({ kind: "disc", x, y, radius, colour, opacity });
  }
  return result;
}

/** From the first point to the last: a line, and a triangle whose tip is there. */
function arrow(points: Float64Array, colour: string, opacity: number, pixel: number, dashed: boolean): Mark[] {
  const [x0, y0, x1, y1] = [points[0]!, points[1]!, points.at(-2)!, points.at(-1)!];
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (!(length > SHORTEST * pixel)) return [];
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const head = Math.min(HEAD * pixel, 0.6 * length);
  const half = (head * BARB) / HEAD;
  const [bx, by] = [x1 - ux * head, y1 - uy * head];
  const corners = Float64Array.of(x1, y1, bx - uy * half, by + ux * half, bx + uy * half, by - ux * half);
  return [
    { kind: "stroke", points: Float64Array.of(x0, y0, bx, by), closed: false, width: LINE, dashed, colour, opacity },
    { kind: "area", points: corners, faces: [0, 1, 2], light: null, colour, opacity },
  ];
}

function mesh(frame: Frame, shape: ShapeView, points: Float64Array, colour: string, opacity: number, solid: boolean): Mark[] {
  if (solid) {
    const { faces, light } = sortedFaces(frame, shape);
    return [{ kind: "area", points, faces, light, colour, opacity: FILL.solid * opacity }];
  }
  const lines: Mark[] = edgesOf(shape.faces).map(([a, b]) => ({
    kind: "stroke",
    points: Float64Array.of(points[2 * a]!, points[2 * a + 1]!, points[2 * b]!, points[2 * b + 1]!),
    closed: false,
    width: 1,
    dashed: shape.dashed,
    colour,
    opacity,
  }));
  return [{ kind: "area", points, faces: shape.faces, light: null, colour, opacity: FILL.mesh * opacity }, ...lines];
}

/** The triangles of a mesh in space, those behind first, each as bright as the light falls onto it from either side. */
export function sortedFaces({ position, dimension }: Frame, { first, faces }: ShapeView): { faces: number[]; light: Float32Array } {
  const count = Math.floor(faces.length / 3);
  const at = (face: number, corner: number, axis: number): number => position[(first + faces[3 * face + corner]!) * dimension + axis] ?? 0;
  const depth = new Float64Array(count);
  const bright = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    depth[i] = at(i, 0, 2) + at(i, 1, 2) + at(i, 2, 2);
    const [ax, ay, az] = [at(i, 1, 0) - at(i, 0, 0), at(i, 1, 1) - at(i, 0, 1), at(i, 1, 2) - at(i, 0, 2)];
    const [bx, by, bz] = [at(i, 2, 0) - at(i, 0, 0), at(i, 2, 1) - at(i, 0, 1), at(i, 2, 2) - at(i, 0, 2)];
    let [nx, ny, nz] = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
    if (nz < 0) [nx, ny, nz] = [-nx, -ny, -nz]; // the side that is seen
    const cosine = (LIGHT[0] * nx + LIGHT[1] * ny + LIGHT[2] * nz) / (Math.hypot(nx, ny, nz) || 1);
    bright[i] = DARKEST + (1 - DARKEST) * Math.max(0, cosine);
  }
  const order = Array.from(depth.keys()).sort((a, b) => depth[a]! - depth[b]!);
  return {
    faces: order.flatMap((i) => [faces[3 * i]!, faces[3 * i + 1]!, faces[3 * i + 2]!]),
    light: Float32Array.from(order, (i) => bright[i]!),
  };
}

const KNOWN_EDGES = new WeakMap<readonly number[], readonly (readonly [number, number])[]>();

/** The edges of triangles, each once. */
export function edgesOf(faces: readonly number[]): readonly (readonly [number, number])[] {
  const known = KNOWN_EDGES.get(faces);
  if (known) return known;
  const found = new Map<string, readonly [number, number]>();
  for (let i = 0; i + 2 < faces.length; i += 3) {
    for (let k = 0; k < 3; k++) {
      const [a, b] = [faces[i + k]!, faces[i + ((k + 1) % 3)]!];
      found.set(`${Math.min(a, b)} ${Math.max(a, b)}`, [a, b]);
    }
  }
  const edges = [...found.values()];
  KNOWN_EDGES.set(faces, edges);
  return edges;
}
