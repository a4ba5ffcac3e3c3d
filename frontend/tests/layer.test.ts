import { describe, expect, it } from "vitest";
import { PaintLayer } from "../src/picture/layer";
import type { Area, Stroke, Trail } from "../src/picture/picture";
import { chained, rimOf } from "../src/picture/tessellate";

/** Metres in a pixel of the page, of which each has `RATIO` of the screen. */
const PIXEL = 0.01;
const RATIO = 2;
const SCREEN = PIXEL / RATIO;

interface Vertex {
  readonly x: number;
  readonly y: number;
  readonly opacity: number;
  /** Distance from the middle and half-width. */
  readonly edge: readonly [number, number];
}
type Triangle = readonly [Vertex, Vertex, Vertex];

/** The triangles that a layer hands to the renderer. */
function triangles(paint: (layer: PaintLayer) => void): Triangle[] {
  const layer = new PaintLayer();
  layer.begin(PIXEL, RATIO);
  paint(layer);
  layer.end();
  const { geometry } = layer.mesh;
  const [places, tints, edges] = ["position", "tint", "edge"].map((name) => geometry.getAttribute(name).array) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const vertex = (corner: number): Vertex => {
    const at = geometry.index!.array[corner]!;
    return { x: places[2 * at]!, y: places[2 * at + 1]!, opacity: tints[4 * at + 3]!, edge: [edges[2 * at]!, edges[2 * at + 1]!] };
  };
  return Array.from({ length: geometry.drawRange.count / 3 }, (_, i) => [vertex(3 * i), vertex(3 * i + 1), vertex(3 * i + 2)] as const);
}

/** As the shader has it: the opacity of a place within a triangle by its barycentric coordinates. */
function opacityAt(triangle: Triangle, weights: readonly number[]): number {
  const mean = (of: (vertex: Vertex) => number): number => triangle.reduce((sum, vertex, k) => sum + weights[k]! * of(vertex), 0);
  const [away, half] = [mean(({ edge }) => edge[0]), mean(({ edge }) => edge[1])];
  return mean(({ opacity }) => opacity) * Math.min(1, Math.max(0, Math.min(half + 0.5 - Math.abs(away), 2 * half)));
}

/** Parts of the side of a triangle between which it is integrated. */
const PARTS = 100;

/** The integral of the opacity, in square pixels of the screen. */
function coverage(paint: (layer: PaintLayer) => void): number {
  let sum = 0;
  for (const triangle of triangles(paint)) {
    const [a, b, c] = triangle;
    const area = Math.abs((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)) / 2;
    let mean = 0;
    for (let i = 0; i < PARTS; i++) {
      for (let j = 0; i + j < PARTS; j++) {
        // The middles of the small triangles that point up, and of those that point down.
        mean += opacityAt(triangle, [(i + 1 / 3) / PARTS, (j + 1 / 3) / PARTS, 1 - (i + j + 2 / 3) / PARTS]);
        if (i + j + 1 < PARTS) mean += opacityAt(triangle, [(i + 2 / 3) / PARTS, (j + 2 / 3) / PARTS, 1 - (i + j + 4 / 3) / PARTS]);
      }
    }
    sum += (area * mean) / PARTS ** 2;
  }
  return sum / SCREEN ** 2;
}

/** How far around a shape there is some of its colour. */
function reach(paint: (layer: PaintLayer) => void): number {
  return Math.max(...triangles(paint).flatMap((corners) => corners.map(({ x, y }) => Math.hypot(x, y)))) / SCREEN;
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
      expect(found / (0.5 * 40 * width)).toBeCloseTo(1, 3);
    }
  });

  it.each([0.3, 0.6, 2, 6, 30])("of a disc with a radius of %d pixels", (radius) => {
    const found = coverage((layer) => layer.disc(0, 0, radius * SCREEN, "#000000", 1));
    expect(found / (Math.PI * radius ** 2)).toBeCloseTo(1, 3);
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
    const bar = triangles((layer) => layer.bar(0, 0, 30 * SCREEN, 0, 4 * SCREEN, "#000000", 1));
    const [x, y] = [bar.flat().map((vertex) => vertex.x / SCREEN), bar.flat().map((vertex) => vertex.y / SCREEN)];
    const box = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
    expect(box.map((u) => Math.round(1e4 * u) / 1e4)).toEqual([-0.5, 30.5, -2.5, 2.5]);
    // Along the side of a triangle that goes across the bar.
    const across = bar.find(([a, b]) => Math.abs(a.x - b.x) < 1e-9 && a.opacity === 1 && b.opacity === 1)!;
    const at = (height: number): number => opacityAt(across, [0.5 + height / 5, 0.5 - height / 5, 0]);
    expect([0, 1.5, 2, 2.25, 2.5].map(at).map((u) => Math.round(1e4 * u) / 1e4)).toEqual([1, 1, 0.5, 0.25, 0]);
  });

  it("runs around triangles, not between them", () => {
    const square = inScreen(0, 0, 10, 0, 10, 10, 0, 10);
    const { edges, outward } = rimOf(square, [0, 1, 2, 3, 2, 0]); // the second the other way around
    expect([...edges]).toEqual([1, 1, 0, 1, 0, 1]);
    expect([...outward].map((x) => Math.round(x))).toEqual([-1, -1, 1, -1, 1, 1, -1, 1]);
    const faint = triangles((layer) => layer.mark(area(square, [0, 1, 2, 3, 2, 0]))).flat();
    for (const { x, y } of faint.filter(({ opacity }) => opacity === 0))
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

it("a trail has no more places than its bends need", () => {
  const turn = Array.from({ length: 1001 }, (_, i) => (2 * Math.PI * i) / 1000);
  const radius = 100 * SCREEN;
  const found = triangles((layer) =>
    layer.trail({
      colour: "#000000",
      ghost: false,
      x: turn.map((a) => radius * Math.cos(a)),
      y: turn.map((a) => radius * Math.sin(a)),
      age: turn.map(() => 0),
    }),
  );
  // With a chord off the circle by a pixel's eighth there are 63 around it.
  expect(found.length / 2).toBeLessThan(80);
  const places = found.map(([a, b]) => [(a.x + b.x) / 2 / SCREEN, (a.y + b.y) / 2 / SCREEN] as const);
  expect(places.length).toBeGreaterThan(100);
  for (const [x, y] of places) expect(Math.abs(Math.hypot(x, y) - 100)).toBeLessThan(0.2);
});

it("pieces that follow on each other are one line", () => {
  expect(chained([0, 0, 1, 0, 1, 0, 1, 1, 5, 5, 6, 6]).map(({ points, closed }) => [[...points], closed])).toEqual([
    [[0, 0, 1, 0, 1, 1], false],
    [[5, 5, 6, 6], false],
  ]);
  expect(chained([0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 0, 0])).toEqual([{ points: Float64Array.of(0, 0, 1, 0, 1, 1), closed: true }]);
});
