// A closed curve that a user draws and edits: few points, joined by straight lines or by a spline.

export type Point = readonly [x: number, y: number];
export type Loop = readonly Point[];

/** The most points that a drawn curve has. */
export const MOST_POINTS = 64;
const FEWEST_POINTS = 3;

/** The points in a text, or null where it is no curve. */
export function readLoop(text: string): Loop | null {
  try {
    const found: unknown = JSON.parse(text);
    const isPoint = (p: unknown): p is Point => Array.isArray(p) && p.length === 2 && p.every((x) => Number.isFinite(x));
    return Array.isArray(found) && found.every(isPoint) ? found : null;
  } catch {
    return null;
  }
}

/** JSON writes numbers with all their digits. */
export function writeLoop(loop: Loop): string {
  return JSON.stringify(loop);
}

/**
 * A freehand curve with at most `most` points. Points are left out that lie within some distance of the line between
 * those that stay (Ramer, Douglas and Peucker); the distance grows until there are few enough.
 */
export function simplified(points: Loop, most = MOST_POINTS): Loop {
  const [first] = points;
  if (!first || points.length <= FEWEST_POINTS) return points;
  // A closed curve is cut at its first point and at the one farthest from it.
  const far = points.reduce((best, p, i) => (distance(p, first) > distance(points[best]!, first) ? i : best), 0);
  const halves = [points.slice(0, far + 1), [...points.slice(far), first]];
  let tolerance = 0.003 * (distance(points[far]!, first) || 1);
  for (;;) {
    const kept = halves.flatMap((half) => thinned(half, tolerance).slice(0, -1));
    if (kept.length <= most) return kept;
    tolerance *= 1.3;
  }
}

function thinned(line: Loop, tolerance: number): Loop {
  if (line.length < 3) return line;
  const [a, b] = [line[0]!, line.at(-1)!];
  let [worst, at] = [0, 0];
  line.forEach((p, i) => {
    const off = distanceToPiece(p, a, b);
    if (off > worst) [worst, at] = [off, i];
  });
  if (worst <= tolerance) return [a, b];
  return [...thinned(line.slice(0, at + 1), tolerance).slice(0, -1), ...thinned(line.slice(at), tolerance)];
}

/** Sweeps after which the slopes are known to round-off: each makes the error at least three times smaller. */
const SWEEPS = 34;

/** The slopes at its points of the periodic cubic spline through them at equally spaced times, the unit between two. */
function slopes(loop: Loop): Point[] {
  const n = loop.length;
  const found: [number, number][] = loop.map(() => [0, 0]);
  // Two continuous derivatives: m(i−1) + 4 m(i) + m(i+1) = 3 (p(i+1) − p(i−1)), solved by Gauss and Seidel.
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (let i = 0; i < n; i++) {
      const [before, after] = [(i + n - 1) % n, (i + 1) % n];
      for (const k of [0, 1] as const) {
        found[i]![k] = (3 * (loop[after]![k] - loop[before]![k]) - found[before]![k] - found[after]![k]) / 4;
      }
    }
  }
  return found;
}

/** One piece of a curve as a Bézier curve: its ends, and the two points between that it is drawn towards. */
export type Piece = readonly [Point, Point, Point, Point];

/** The pieces between the points of a closed curve: of a spline, or straight ones. */
export function piecesOf(loop: Loop, spline: boolean): Piece[] {
  const rates = spline ? slopes(loop) : [];
  return loop.map((a, i): Piece => {
    const j = (i + 1) % loop.length;
    const b = loop[j]!;
    const [m, n] = spline ? [rates[i]!, rates[j]!] : [[b[0] - a[0], b[1] - a[1]] as const, [b[0] - a[0], b[1] - a[1]] as const];
    return [a, [a[0] + m[0] / 3, a[1] + m[1] / 3], [b[0] - n[0] / 3, b[1] - n[1] / 3], b];
  });
}

/** A place on a piece, from 0 at its beginning to 1. */
export function onPiece([a, b, c, d]: Piece, u: number): Point {
  const w = 1 - u;
  const at = (k: 0 | 1): number => w * w * w * a[k] + 3 * w * w * u * b[k] + 3 * w * u * u * c[k] + u * u * u * d[k];
  return [at(0), at(1)];
}

/** Straight parts that stand for one piece where a distance is measured. */
const PARTS = 8;

/** The piece of a curve that is nearest to a place, and how far it is. */
export function nearestOf(pieces: readonly Piece[], place: Point): { piece: number; distance: number } {
  const fine = pieces.flatMap((piece) => Array.from({ length: PARTS }, (_, k) => onPiece(piece, k / PARTS)));
  const { piece, distance } = nearestPiece(fine, place);
  return { piece: Math.floor(piece / PARTS), distance };
}

/** The curve as the data of an SVG path. */
export function pathOf(pieces: readonly Piece[]): string {
  const [first] = pieces;
  if (!first) return "";
  const text = (p: Point): string => `${p[0].toFixed(2)} ${p[1].toFixed(2)}`;
  return `M${text(first[0])}${pieces.map(([, b, c, d]) => `C${text(b)} ${text(c)} ${text(d)}`).join("")}Z`;
}

/** Between which point and the next a place lies nearest to the curve, and how far from it. */
export function nearestPiece(loop: Loop, place: Point): { piece: number; distance: number } {
  const found = loop.map((a, i) => distanceToPiece(place, a, loop[(i + 1) % loop.length]!));
  const piece = found.indexOf(Math.min(...found));
  return { piece, distance: found[piece] ?? Infinity };
}

export function nearestPoint(loop: Loop, place: Point): number {
  return loop.reduce((best, p, i) => (distance(p, place) < distance(loop[best]!, place) ? i : best), 0);
}

/** With one more point after another. */
export function withPoint(loop: Loop, after: number, place: Point): Loop {
  return loop.length >= MOST_POINTS ? loop : [...loop.slice(0, after + 1), place, ...loop.slice(after + 1)];
}

/** Without one of the points; a curve keeps at least three. */
export function withoutPoint(loop: Loop, index: number): Loop {
  return loop.length <= FEWEST_POINTS ? loop : loop.filter((_, i) => i !== index);
}

export function withMovedPoint(loop: Loop, index: number, place: Point): Loop {
  return loop.map((p, i) => (i === index ? place : p));
}

export function shifted(loop: Loop, dx: number, dy: number): Loop {
  return loop.map(([x, y]) => [x + dx, y + dy]);
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

function distanceToPiece(p: Point, a: Point, b: Point): number {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const square = dx * dx + dy * dy;
  const u = square > 0 ? Math.min(1, Math.max(0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / square)) : 0;
  return Math.hypot(p[0] - a[0] - u * dx, p[1] - a[1] - u * dy);
}
