import { describe, expect, it } from "vitest";
import { PaintLayer } from "../src/picture/layer";
import type { Area, Stroke, Trail } from "../src/picture/picture";
import { chained, rimOf } from "../src/picture/tessellate";

/** Metres in a pixel of the page, of which each has `RATIO` of the screen. */
const PIXEL = 0.01;
const RATIO = 2;
const SCREEN = PIXEL / RATIO;

type Vertex = readonly [x: number, y: number, opacity: number];

/** The triangles that a layer hands to the renderer. */
function triangles(paint: (layer: PaintLayer) => void): (readonly [Vertex, Vertex, Vertex])[] {
  const layer = new PaintLayer();
  layer.begin(PIXEL, RATIO);
  paint(layer);
  layer.end();
  const { geometry } = layer.mesh;
  const [places, tints, corners] = [geometry.getAttribute("position").array, geometry.getAttribute("color").array, geometry.index!.array];
  const vertex = (i: number): Vertex => {
    const at = corners[i]!;
    return [places[3 * at]!, places[3 * at + 1]!, tints[4 * at + 3]!];
  };
  return Array.from({ length: geometry.drawRange.count / 3 }, (_, i) => [vertex(3 * i), vertex(3 * i + 1), vertex(3 * i + 2)] as const);
}

/** The integral of the opacity, in square pixels of the screen: it is linear on each triangle. */
function coverage(paint: (layer: PaintLayer) => void): number {
  let sum = 0;
  for (const [a, b, c] of triangles(paint)) {
    const area = Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2;
    sum += (area * (a[2] + b[2] + c[2])) / 3;
  }
  return sum / SCREEN ** 2;
}

/** How far around a shape there is some of its colour. */
function reach(paint: (layer: PaintLayer) => void): number {
  return Math.max(...triangles(paint).flatMap((corners) => corners.map(([x, y]) => Math.hypot(x, y)))) / SCREEN;
}

const inScreen = (...numbers: number[]): Float64Array => Float64Array.from(numbers, (x) => x * SCREEN);
const area = (points: Float64Array, faces: number[] | null): Area => ({
  kind: "area",
  points,
  faces,
  light: null,
  colour: "#000000",
  opacity: 1,
});

describe("the colour of a shape covers its area", () => {
  it.each([0.1, 0.3, 1, 5])("of a bar %d pixels wide, however it lies", (width) => {
    for (const turn of [0, 0.4, 2]) {
      const [x, y] = [40 * SCREEN * Math.cos(turn), 40 * SCREEN * Math.sin(turn)];
      const found = coverage((layer) => layer.bar(0, 0, x, y, width * SCREEN, "#000000", 0.5));
      expect(found / (0.5 * 40 * width)).toBeCloseTo(1, 4);
    }
  });

  it.each([0.3, 0.6, 2, 6, 30])("of a disc with a radius of %d pixels", (radius) => {
    const found = coverage((layer) => layer.disc(0, 0, radius * SCREEN, "#000000", 1));
    expect(found / (Math.PI * radius ** 2)).toBeCloseTo(1, 4);
  });

  it("of a polygon, also one with a corner that points inwards", () => {
    const square = inScreen(0, 0, 20, 0, 20, 20, 0, 20);
    const dart = inScreen(0, 0, 40, 30, 0, 60, 12, 30);
    expect(Math.abs(coverage((layer) => layer.mark(area(square, null))) / 400 - 1)).toBeLessThan(0.01);
    expect(Math.abs(coverage((layer) => layer.mark(area(dart, null))) / 840 - 1)).toBeLessThan(0.01);
  });

  it("of a line with corners and of its dashes", () => {
    const ring = Float64Array.from({ length: 120 }, (_, i) => 100 * SCREEN * (i % 2 ? Math.sin : Math.cos)((Math.PI * (i >> 1)) / 30));
    const around = 60 * 200 * Math.sin(Math.PI / 60);
    const line: Stroke = { kind: "stroke", points: ring, closed: true, width: 1.5, dashed: false, colour: "#000000", opacity: 1 };
    expect(Math.abs(coverage((layer) => layer.mark(line)) / (3 * around) - 1)).toBeLessThan(0.01);
    const dashed = coverage((layer) => layer.mark({ ...line, dashed: true }));
    expect(Math.abs(dashed / (3 * around * 0.6) - 1)).toBeLessThan(0.02); // dashes of 9 and gaps of 6, the last one cut off
  });

  it("of a trail, which grows thinner and fainter, where its places are close together too", () => {
    for (const count of [50, 2000]) {
      const age = Array.from({ length: count + 1 }, (_, i) => 1 - i / count);
      const trail: Trail = { colour: "#000000", ghost: false, x: age.map((a) => -200 * SCREEN * a), y: age.map(() => 0), age };
      const whole = 200 * 2 * 2 * RATIO * 0.6 * (1 / 3); // width and opacity both fall evenly
      expect(Math.abs(coverage((layer) => layer.trail(trail)) / whole - 1)).toBeLessThan(0.015);
    }
  });
});

describe("a fringe", () => {
  it("is one pixel of the screen wide, half of it outside", () => {
    // The corners of a disc are up to 0.06 pixels off the circle.
    expect(Math.abs(reach((layer) => layer.disc(0, 0, 20 * SCREEN, "#000000", 1)) - 20.5)).toBeLessThan(0.06);
    const ends = triangles((layer) => layer.bar(0, 0, 30 * SCREEN, 0, 4 * SCREEN, "#000000", 1)).flat();
    const [x, y] = [ends.map(([u]) => u / SCREEN), ends.map(([, v]) => v / SCREEN)];
    expect([Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)].map((u) => Math.round(1e4 * u) / 1e4)).toEqual([
      -0.5, 30.5, -2.5, 2.5,
    ]);
    const full = ends.filter(([, , opacity]) => opacity === 1);
    expect(Math.max(...full.map(([, v]) => v / SCREEN))).toBeCloseTo(1.5, 4);
  });

  it("runs around triangles, not between them", () => {
    const square = inScreen(0, 0, 10, 0, 10, 10, 0, 10);
    const { edges, outward } = rimOf(square, [0, 1, 2, 3, 2, 0]); // the second the other way around
    expect([...edges]).toEqual([1, 1, 0, 1, 0, 1]);
    expect([...outward].map((x) => Math.round(x))).toEqual([-1, -1, 1, -1, 1, 1, -1, 1]);
    const faint = triangles((layer) => layer.mark(area(square, [0, 1, 2, 3, 2, 0]))).flat();
    for (const [x, y] of faint.filter(([, , opacity]) => opacity === 0))
      expect(Math.max(Math.abs(x / SCREEN - 5), Math.abs(y / SCREEN - 5))).toBeCloseTo(5.5, 4);
    expect(Math.abs(coverage((layer) => layer.mark(area(square, [0, 1, 2, 3, 2, 0]))) / 100 - 1)).toBeLessThan(0.01);
  });

  it("runs where a closed surface turns away, and beside a triangle that is missing", () => {
    const tetrahedron = [0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3];
    const [inside, beside] = [inScreen(0, 0, 10, 0, 0, 10, 2, 2), inScreen(0, 0, 10, 0, 0, 10, NaN, NaN)];
    expect([...rimOf(inside, tetrahedron).edges]).toEqual([1, 1, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0]);
    const { edges, outward } = rimOf(beside, tetrahedron);
    expect([...edges]).toEqual([1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect([...outward].every(Number.isFinite)).toBe(true);
  });
});

it("pieces that follow on each other are one line", () => {
  expect(chained([0, 0, 1, 0, 1, 0, 1, 1, 5, 5, 6, 6]).map(({ points, closed }) => [[...points], closed])).toEqual([
    [[0, 0, 1, 0, 1, 1], false],
    [[5, 5, 6, 6], false],
  ]);
  expect(chained([0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 0, 0])).toEqual([{ points: Float64Array.of(0, 0, 1, 0, 1, 1), closed: true }]);
});
