import { describe, expect, it } from "vitest";
import { Scale } from "../src/picture/colourmap";
import { fieldTicks, fieldView, toField, toScreen } from "../src/picture/fieldview";
import { contour, contours } from "../src/picture/heatmap";
import { moved, through, WHOLE, zoomed } from "../src/picture/lens";
import {
  type Loop,
  nearestOf,
  nearestPiece,
  onPiece,
  pathOf,
  piecesOf,
  readLoop,
  simplified,
  withoutPoint,
  withPoint,
  writeLoop,
} from "../src/picture/loop";
import { fit, toMetres } from "../src/picture/view";

const RANGES = { x_low: -2, x_high: 2, x_unit: "m", y_low: -1, y_high: 1, y_unit: "m" };

describe("a field", () => {
  it("has one scale for one unit, and pixels lead back to coordinates", () => {
    const view = fieldView(900, 500, RANGES);
    const [a, b, c] = [toScreen(view, 0, 0), toScreen(view, 1, 0), toScreen(view, 0, 1)];
    expect(b[0] - a[0]).toBeCloseTo(a[1] - c[1], 9);
    const [x, y] = toField(view, ...toScreen(view, 0.3, -0.7));
    expect(x).toBeCloseTo(0.3, 12);
    expect(y).toBeCloseTo(-0.7, 12);
    const free = fieldView(900, 500, { ...RANGES, y_unit: "s" });
    expect([...free.x, ...free.y].map((edge) => Number(edge.toFixed(9)))).toEqual([-2, 2, -1, 1]);
    expect(fieldTicks([-1, 1], 300)).toEqual({ values: [-1, -0.5, 0, 0.5, 1], decimals: 1 });
  });

  it("keeps the place under the pointer when it is zoomed, in a field and in a plane", () => {
    const before = toField(fieldView(900, 500, RANGES), 200, 300);
    const rectangle = fieldView(900, 500, RANGES);
    const middle = [rectangle.left + rectangle.right, rectangle.top + rectangle.bottom] as const;
    const after = toField(fieldView(900, 500, RANGES, zoomed(WHOLE, 3, [200, 300], ...middle)), 200, 300);
    expect(after[0]).toBeCloseTo(before[0], 12);
    expect(after[1]).toBeCloseTo(before[1], 12);
    const view = fit(800, 600, 2);
    const lens = moved(zoomed(WHOLE, 2.5, [120, 480], 800, 600), 30, -20);
    const [x, y] = toMetres(through(view, lens), 150, 460);
    expect([x, y].map((value, i) => value - toMetres(view, 120, 480)[i]!).every((value) => Math.abs(value) < 1e-12)).toBe(true);
  });

  it("has lines of one value where it has that value", () => {
    const [rows, columns] = [31, 41];
    const at = (i: number): [number, number] => [(i % columns) / (columns - 1) - 0.5, Math.floor(i / columns) / (rows - 1) - 0.5];
    const values = Float32Array.from({ length: rows * columns }, (_, i) => Math.hypot(...at(i)));
    const circle = contour({ rows, columns, values }, 0.3);
    expect(circle.length).toBeGreaterThan(100);
    for (let i = 0; i < circle.length; i += 2) expect(Math.hypot(circle[i]! - 0.5, circle[i + 1]! - 0.5)).toBeCloseTo(0.3, 2);
    values.fill(NaN, 0, values.length / 2);
    expect(contour({ rows, columns, values }, 0.3).length).toBeLessThan(circle.length);
    expect(contours({ rows, columns, values }, 0, 0.7).map(({ level }) => Number(level.toFixed(2)))).toContain(0.3);
  });
});

describe("a signed scale", () => {
  it("shows each side of zero by itself, with zero in the middle of the bar", () => {
    const scale = new Scale(-0.1, 10, true);
    expect(scale.zero).toBe(0.5);
    expect(scale.colour(-0.1)).toEqual(new Scale(-10, 10, true).colour(-10));
    expect(scale.value(0.25)).toBeCloseTo(-0.05, 12);
    expect(scale.value(0.75)).toBeCloseTo(5, 12);
    const [red, , blue] = new Scale(0.5, 2, true).colour(2);
    expect(red).toBeGreaterThan(blue); // all positive: only that side
    const [less, , more] = scale.colour(-0.08);
    expect(more).toBeGreaterThan(less);
    expect(new Scale(1, 3).diverging).toBe(false);
  });
});

describe("a drawn curve", () => {
  const wobbly: Loop = Array.from({ length: 900 }, (_, i) => {
    const turn = (2 * Math.PI * i) / 900;
    const radius = 100 + 9 * Math.sin(23 * turn);
    return [radius * Math.cos(turn), radius * Math.sin(turn)];
  });

  it("is simplified to few points that stay on it", () => {
    const few = simplified(wobbly);
    expect(few.length).toBeLessThanOrEqual(64);
    expect(few.length).toBeGreaterThan(20);
    for (const point of few) expect(wobbly).toContainEqual(point);
    for (const point of wobbly) expect(nearestPiece(few, point).distance).toBeLessThan(12);
    const corners = simplified([
      ...Array.from({ length: 50 }, (_, i) => [i, 0] as const),
      ...Array.from({ length: 50 }, (_, i) => [50, i] as const),
      ...Array.from({ length: 50 }, (_, i) => [50 - i, 50 - i] as const),
    ]);
    expect(corners.length).toBe(3);
  });

  it("is read and written with all digits, and gains and loses points", () => {
    const loop: Loop = [
      [0.1, 1 / 3],
      [2, 0],
      [1e-17, -5],
    ];
    expect(readLoop(writeLoop(loop))).toEqual(loop);
    expect(readLoop("[[1,2],[3]]")).toBe(null);
    expect(readLoop("x")).toBe(null);
    const more = withPoint(loop, nearestPiece(loop, [1, 0.2]).piece, [1, 0.2]);
    expect(more[1]).toEqual([1, 0.2]);
    expect(withoutPoint(more, 1)).toEqual(loop);
    expect(withoutPoint(loop, 0)).toBe(loop);
  });
});

describe("the curve through the points of a loop", () => {
  const loop: Loop = [
    [1, 0],
    [0.2, 1.5],
    [-1, 0.3],
    [0, -2],
  ];

  it("is the periodic cubic spline, with two continuous derivatives", () => {
    const pieces = piecesOf(loop, true);
    const second = (i: number, end: 0 | 1, k: 0 | 1): number => {
      const [a, b, c, d] = pieces[i]!;
      return end === 0 ? 6 * (a[k] - 2 * b[k] + c[k]) : 6 * (b[k] - 2 * c[k] + d[k]);
    };
    for (let i = 0; i < loop.length; i++) {
      const j = (i + 1) % loop.length;
      expect(onPiece(pieces[i]!, 0)).toEqual(loop[i]);
      for (const k of [0, 1] as const) {
        expect(pieces[i]![3][k] - pieces[i]![2][k]).toBeCloseTo(pieces[j]![1][k] - pieces[j]![0][k], 14);
        expect(second(i, 1, k)).toBeCloseTo(second(j, 0, k), 13);
      }
    }
    expect(pathOf(pieces)).toMatch(/^M1\.00 0\.00C.*Z$/);
  });

  it("is straight where no spline is asked for, and is found near a pointer", () => {
    const [first] = piecesOf(loop, false);
    const [x, y] = onPiece(first!, 0.25);
    expect([x, y]).toEqual([expect.closeTo(0.8, 14), expect.closeTo(0.375, 14)]);
    const spline = piecesOf(loop, true);
    const place = onPiece(spline[2]!, 0.4);
    expect(nearestOf(spline, place)).toEqual({ piece: 2, distance: expect.closeTo(0, 1) });
  });
});
