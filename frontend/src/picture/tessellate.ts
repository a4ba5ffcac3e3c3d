// Lines of some width as bands, for a renderer whose own lines are one pixel wide.

/** The longest a corner may reach out, in half-widths; a sharper one is cut off. */
const MITRE = 2.5;

/** The unbroken pieces of a line of places of two numbers each: those without NaN, two places or more. */
export function pieces(points: Float64Array, closed: boolean): { points: Float64Array; closed: boolean }[] {
  const found: { points: Float64Array; closed: boolean }[] = [];
  let start = 0;
  const end = (stop: number): void => {
    if (stop - start >= 4) found.push({ points: points.subarray(start, stop), closed: closed && stop - start === points.length });
  };
  for (let i = 0; i + 1 < points.length; i += 2) {
    if (Number.isFinite(points[i]) && Number.isFinite(points[i + 1])) continue;
    end(i);
    start = i + 2;
  }
  end(points.length);
  return found;
}

/** Cut a line into dashes of length `on` with gaps of length `off`. */
export function dashes(points: Float64Array, closed: boolean, on: number, off: number): Float64Array[] {
  const result: Float64Array[] = [];
  let dash: number[] | null = [points[0]!, points[1]!];
  let left = on;
  const count = points.length / 2;
  for (let i = 1; i < count + Number(closed); i++) {
    const [from, to] = [2 * (i - 1), 2 * (i % count)];
    let [x, y] = [points[from]!, points[from + 1]!];
    let length = Math.hypot(points[to]! - x, points[to + 1]! - y);
    while (length > left) {
      x += ((points[to]! - x) * left) / length;
      y += ((points[to + 1]! - y) * left) / length;
      length -= left;
      if (dash) result.push(Float64Array.of(...dash, x, y));
      left = dash ? off : on;
      dash = dash ? null : [x, y];
    }
    left -= length;
    dash?.push(points[to]!, points[to + 1]!);
  }
  if (dash && dash.length >= 4) result.push(Float64Array.from(dash));
  return result;
}

/** A line whose ends are doubled: each stands `reach` before and `reach` after its place, or less on a short piece. */
export function withEnds(points: Float64Array, reach: number): Float64Array {
  const count = points.length / 2;
  const result = new Float64Array(points.length + 4);
  result.set(points, 2);
  for (const [end, next, outer, inner] of [
    [0, 1, 0, 1],
    [count - 1, count - 2, count + 1, count],
  ] as const) {
    const [x, y] = [points[2 * end]!, points[2 * end + 1]!];
    const [dx, dy] = [points[2 * next]! - x, points[2 * next + 1]! - y];
    const part = Math.min(0.5, reach / (Math.hypot(dx, dy) || 1));
    result.set([x - part * dx, y - part * dy], 2 * outer);
    result.set([x + part * dx, y + part * dy], 2 * inner);
  }
  return result;
}

/** Pieces of two ends each, joined where one begins at the very end of the one before. */
export function chained(lines: readonly number[]): { points: Float64Array; closed: boolean }[] {
  const found: { points: Float64Array; closed: boolean }[] = [];
  let line: number[] = [];
  const end = (): void => {
    const closed = line.length > 6 && line[0] === line.at(-2) && line[1] === line.at(-1);
    if (line.length > 0) found.push({ points: Float64Array.from(closed ? line.slice(0, -2) : line), closed });
  };
  for (let i = 0; i + 3 < lines.length; i += 4) {
    if (lines[i] === line.at(-2) && lines[i + 1] === line.at(-1)) line.push(lines[i + 2]!, lines[i + 3]!);
    else {
      end();
      line = lines.slice(i, i + 4);
    }
  }
  end();
  return found;
}

/** Across a line at each of its places: x and y of a vector so long that its parts across the pieces on both sides are 1. */
export function across(points: Float64Array, closed: boolean): Float64Array {
  const count = points.length / 2;
  const result = new Float64Array(2 * count);
  const direction = (i: number): [number, number] => {
    const [a, b] = [2 * ((i + count) % count), 2 * ((i + 1 + count) % count)];
    const [dx, dy] = [points[b]! - points[a]!, points[b + 1]! - points[a + 1]!];
    const length = Math.hypot(dx, dy) || 1;
    return [dx / length, dy / length];
  };
  for (let i = 0; i < count; i++) {
    const into = i > 0 || closed ? direction(i - 1) : direction(i);
    const out = i < count - 1 || closed ? direction(i) : into;
    const [nx, ny] = [-(into[1] + out[1]), into[0] + out[0]];
    const size = Math.hypot(nx, ny);
    result.set(size < 1e-6 ? [-out[1], out[0]] : mitred(nx, ny, size, 2), 2 * i);
  }
  return result;
}

/** From the sum, of length `size`, of so many normals: the vector whose parts along them are 1, unless it would be too long. */
function mitred(nx: number, ny: number, size: number, count: number): [number, number] {
  const reach = Math.min(MITRE, count / size) / size;
  return [nx * reach, ny * reach];
}

/** Where triangles end in the plane. */
export interface Rim {
  /** Whether an edge is part of it: that from the first corner of a triangle to the second, from the second to the third, … */
  readonly edges: Uint8Array;
  /** For each point two numbers: the way out of the triangles, as long as in `across`; 0 for a point that is not on the rim. */
  readonly outward: Float64Array;
}

/**
 * The edges of triangles that have no other triangle on their other side. Edges at which a closed surface turns away from the
 * eye are among them: both of their triangles lie on the same side.
 */
export function rimOf(points: Float64Array, faces: readonly number[]): Rim {
  const count = points.length / 2;
  const sides = new Set<number>();
  const edges = new Uint8Array(faces.length);
  const outward = new Float64Array(points.length);
  const met = new Uint8Array(count);
  /** Each edge with its triangle on the left; a triangle that lacks a place is none. */
  const each = (act: (from: number, to: number, at: number) => void): void => {
    for (let i = 0; i + 2 < faces.length; i += 3) {
      const turn = turnOf(points, faces[i]!, faces[i + 1]!, faces[i + 2]!);
      for (let k = 0; k < 3; k++) {
        const [a, b] = [faces[i + k]!, faces[i + ((k + 1) % 3)]!];
        if (turn >= 0) act(a, b, i + k);
        else if (turn < 0) act(b, a, i + k);
      }
    }
  };
  each((from, to) => sides.add(from * count + to));
  each((from, to, at) => {
    if (sides.has(to * count + from)) return;
    edges[at] = 1;
    const [dx, dy] = [points[2 * to]! - points[2 * from]!, points[2 * to + 1]! - points[2 * from + 1]!];
    const length = Math.hypot(dx, dy) || 1;
    for (const end of [from, to]) {
      outward[2 * end]! += dy / length;
      outward[2 * end + 1]! -= dx / length;
      met[end]!++;
    }
  });
  for (let i = 0; i < count; i++) {
    const size = Math.hypot(outward[2 * i]!, outward[2 * i + 1]!);
    if (size > 1e-6) outward.set(mitred(outward[2 * i]!, outward[2 * i + 1]!, size, met[i]!), 2 * i);
  }
  return { edges, outward };
}

/** Twice the area of a triangle, with a sign: positive where its corners are in counterclockwise order. */
function turnOf(points: Float64Array, a: number, b: number, c: number): number {
  const [x, y] = [points[2 * a]!, points[2 * a + 1]!];
  return (points[2 * b]! - x) * (points[2 * c + 1]! - y) - (points[2 * b + 1]! - y) * (points[2 * c]! - x);
}
