// Space seen from far away: what is a place in metres becomes right, up and toward the eye. z points upwards.

import { niceStep } from "../format";
import type { History } from "../history";

export type Triple = readonly [number, number, number];

/** Where the eye is, as angles: about the z axis from x, and above the plane of x and y. */
export interface Camera {
  readonly azimuth: number;
  readonly elevation: number;
}

/** Three orthogonal unit vectors. */
export interface Basis {
  readonly right: Triple;
  readonly up: Triple;
  readonly toward: Triple;
}

/** What trails are read from. */
export type Past = Pick<History, "times" | "column" | "first">;

/** A cube of half-width 1 seen from any side fits into a circle of this radius. */
export const REACH = Math.sqrt(3);

export function basisOf({ azimuth, elevation }: Camera): Basis {
  const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
  return { right: [-sa, ca, 0], up: [-se * ca, -se * sa, ce], toward: [ce * ca, ce * sa, se] };
}

export function dot(a: Triple, x: number, y: number, z: number): number {
  return a[0] * x + a[1] * y + a[2] * z;
}

/** Turn by a drag of so many pixels; the eye stays between straight below and straight above. */
export function turned(camera: Camera, dx: number, dy: number): Camera {
  const most = Math.PI / 2;
  return {
    azimuth: camera.azimuth - dx * TURN,
    elevation: Math.min(most, Math.max(-most, camera.elevation + dy * TURN)),
  };
}

const TURN = 0.008;

/** Points of three numbers each, as right, up and toward. */
export function projected(points: Float64Array, basis: Basis): Float64Array {
  const result = new Float64Array(points.length);
  for (let i = 0; i + 2 < points.length; i += 3) {
    const place = [points[i]!, points[i + 1]!, points[i + 2]!] as const;
    result[i] = dot(basis.right, ...place);
    result[i + 1] = dot(basis.up, ...place);
    result[i + 2] = dot(basis.toward, ...place);
  }
  return result;
}

/** The same for the columns of a history from `first` on, which hold the places of bodies, three columns each. */
export function projectedPast(past: Past, first: number, basis: Basis): Past {
  const along = (vector: Triple, start: number): number[] => {
    const [x, y, z] = [past.column(start), past.column(start + 1), past.column(start + 2)];
    return past.times.map((_, row) => dot(vector, x[row] ?? NaN, y[row] ?? NaN, z[row] ?? NaN));
  };
  return {
    times: past.times,
    first: (time) => past.first(time),
    column: (index) => {
      const axis = (index - first) % 3;
      return along(axis === 0 ? basis.right : axis === 1 ? basis.up : basis.toward, index - axis);
    },
  };
}

/** A number beside the box, where it stands in the picture. */
export interface Label {
  readonly text: "x" | "y" | "z" | number;
  readonly place: readonly [number, number];
}

export interface Box {
  /** The grid on the three far faces: two ends of two numbers for each line. */
  readonly lines: readonly number[];
  readonly labels: readonly Label[];
  readonly decimals: number;
}

/** Where a boundary takes the place of the box. */
export const NO_BOX: Box = { lines: [], labels: [], decimals: 0 };

const AXES = ["x", "y", "z"] as const;

/** A box may be so much smaller than what was asked for, so that it ends at a round number. */
const SPARE = 1.12;

/** The far faces of a cube of half-width about `asked` round the origin, ruled, with numbers along three of its edges. */
export function boxOf(asked: number, basis: Basis): Box {
  const step = niceStep(2 * asked, 4);
  const count = Math.floor(asked / step + 1e-9);
  const extent = count * step * SPARE >= asked ? count * step : asked;
  const ticks = Array.from({ length: 2 * count + 1 }, (_, i) => (i - count) * step);
  const far = basis.toward.map((part) => (part > 0 ? -extent : extent)) as unknown as Triple;
  const flat = (at: readonly number[]): [number, number] => {
    const place = at as unknown as Triple;
    return [dot(basis.right, ...place), dot(basis.up, ...place)];
  };
  const on = (values: readonly (readonly [axis: number, value: number])[]): number[] => {
    const place = [...far];
    for (const [axis, value] of values) place[axis] = value;
    return place;
  };
  const lines: number[] = [];
  for (let face = 0; face < 3; face++) {
    for (const [along, across] of [
      [(face + 1) % 3, (face + 2) % 3],
      [(face + 2) % 3, (face + 1) % 3],
    ] as const) {
      for (const tick of new Set([-extent, ...ticks, extent])) {
        lines.push(
          ...flat(
            on([
              [across, tick],
              [along, -extent],
            ]),
          ),
          ...flat(
            on([
              [across, tick],
              [along, extent],
            ]),
          ),
        );
      }
    }
  }
  return {
    lines,
    labels: AXES.flatMap((name, axis) => labelsOf(name, axis, ticks, extent, far, flat)),
    decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)),
  };
}

/** How far from the box its numbers and the names of its axes stand, in half-widths of the box. */
const [NUMBERS, NAMES] = [0.16, 0.42];

function labelsOf(
  name: "x" | "y" | "z",
  axis: number,
  ticks: readonly number[],
  extent: number,
  far: Triple,
  flat: (at: readonly number[]) => [number, number],
): Label[] {
  // The lower axes are named along their near edges; the upright one along the edge farthest to the left.
  const edge = [...far];
  if (axis < 2) edge[1 - axis] = -edge[1 - axis]!;
  else {
    const [one, other] = [
      [-far[0], far[1], 0],
      [far[0], -far[1], 0],
    ];
    [edge[0], edge[1]] = flat(one)[0] < flat(other)[0] ? [one[0]!, one[1]!] : [other[0]!, other[1]!];
  }
  const middle = flat(edge.map((side, i) => (i === axis ? 0 : side)));
  const away = Math.hypot(...middle) || 1;
  const at = (value: number, outward: number): [number, number] => {
    const [x, y] = flat(edge.map((side, i) => (i === axis ? value : side)));
    return [x + (outward * extent * middle[0]) / away, y + (outward * extent * middle[1]) / away];
  };
  return [
    // The lower axes meet in a corner, where their last numbers would lie on each other.
    ...ticks.filter((tick) => axis === 2 || Math.abs(tick) < 0.9 * extent).map((tick) => ({ text: tick, place: at(tick, NUMBERS) })),
    { text: name, place: at(0, NAMES) },
  ];
}
