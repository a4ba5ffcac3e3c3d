import { describe, expect, it, vi } from "vitest";
import { LIGHT } from "../src/palette";
import { planeBoundary, spaceBoundary } from "../src/picture/boundary";
import { basisOf } from "../src/picture/camera";
import { edgesOf, labelsOf, marksOf, sortedFaces } from "../src/picture/shapes";
import { across, dashes, pieces } from "../src/picture/tessellate";
import type { Frame, LabView, ShapeView } from "../src/wire";

// The colours of the page follow the browser's scheme; there is no browser here.
vi.hoisted(() => vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} })));

const PLAIN: ShapeView = {
  kind: "polyline",
  first: 0,
  count: 3,
  colour: 1,
  picture: 0,
  text: "",
  radius: 0,
  faces: [],
  ghost: false,
  dashed: false,
};

const lab = (kind: string, ...shapes: Partial<ShapeView>[]): LabView =>
  ({ pictures: [{ name: "p", title: "", kind, boundary: "none" }], shapes: shapes.map((shape) => ({ ...PLAIN, ...shape })) }) as never;
const frame = (dimension: number, ...position: number[]): Frame => ({ dimension, position: Float64Array.from(position) }) as never;

const length = (line: Float64Array): number => {
  let sum = 0;
  for (let i = 2; i < line.length; i += 2) sum += Math.hypot(line[i]! - line[i - 2]!, line[i + 1]! - line[i - 1]!);
  return sum;
};

describe("a line", () => {
  it("is broken where a place is missing, and then not closed", () => {
    const line = Float64Array.of(0, 0, 1, 0, NaN, NaN, 2, 0, 3, 0, 3, 1);
    expect(pieces(line, true).map((piece) => [piece.points.length / 2, piece.closed])).toEqual([
      [2, false],
      [3, false],
    ]);
    expect(pieces(line.subarray(6), true)[0]!.closed).toBe(true);
  });

  it("has dashes of one length around corners", () => {
    const square = Float64Array.of(0, 0, 1, 0, 1, 1, 0, 1);
    const found = dashes(square, true, 0.25, 0.25);
    expect(found.length).toBe(8);
    for (const dash of found) expect(length(dash)).toBeCloseTo(0.25, 12);
  });

  it("has the same width on both sides of a corner", () => {
    const sides = across(Float64Array.of(0, 0, 2, 0, 2, 2), false);
    expect([...sides.slice(0, 2)]).toEqual([-0, 1]);
    expect(sides[2]).toBeCloseTo(-1, 12);
    expect(sides[3]).toBeCloseTo(1, 12);
    expect([...sides.slice(4)]).toEqual([-1, 0]);
  });
});

describe("shapes", () => {
  const corners = frame(2, 0, 0, 1, 0, 1, 1);

  it("are painted in their picture only, ghosts behind, labels apart", () => {
    const view = lab("plane", { kind: "polygon" }, { picture: 1 }, { ghost: true, dashed: true }, { kind: "label", text: "A" });
    const marks = marksOf(corners, view, 0, LIGHT, 0.01);
    expect(marks.map((mark) => mark.kind)).toEqual(["stroke", "area", "stroke"]);
    expect(marks[0]).toMatchObject({ dashed: true, closed: false, colour: LIGHT.bodies[1] });
    expect(marks[0]!.opacity).toBeLessThan(1);
    expect(marks[2]).toMatchObject({ closed: true, opacity: 1 });
    expect(labelsOf(corners, view, 0, LIGHT)).toMatchObject([{ text: "A", x: 0, y: 0 }]);
  });

  it("end in the tip of an arrow, and a disc is seen however small", () => {
    const [shaft, head] = marksOf(corners, lab("plane", { kind: "arrow", count: 2 }), 0, LIGHT, 0.01);
    expect(head).toMatchObject({ kind: "area", faces: [0, 1, 2] });
    expect([...(head as { points: Float64Array }).points.slice(0, 2)]).toEqual([1, 0]);
    expect((shaft as { points: Float64Array }).points[2]).toBeLessThan(0.9);
    expect(marksOf(corners, lab("plane", { kind: "disc", count: 1 }), 0, LIGHT, 0.01)[0]).toMatchObject({ radius: 0.035 });
    expect(marksOf(frame(2, 0, 0, 0, 0), lab("plane", { kind: "arrow", count: 2 }), 0, LIGHT, 0.01)).toEqual([]);
  });

  it("of a mesh come from back to front in space, brighter toward the light", () => {
    const points = frame(3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1);
    const { faces, light } = sortedFaces(points, { ...PLAIN, count: 6, faces: [3, 4, 5, 0, 1, 2] });
    expect(faces).toEqual([0, 1, 2, 3, 4, 5]);
    expect(light[0]).toBeCloseTo(light[1]!, 12);
    const steep = sortedFaces(frame(3, 0, 0, 0, 1, 0, 0, 1, 0, 1), { ...PLAIN, faces: [0, 1, 2] });
    expect(steep.light[0]).toBeLessThan(light[0]!);
    expect(edgesOf([0, 1, 2, 2, 1, 3]).length).toBe(5);
  });
});

describe("boundaries", () => {
  it("of a ball is its outline from every side, of a disc a unit circle", () => {
    const lines = spaceBoundary("ball", 1, basisOf({ azimuth: 0.7, elevation: 0.4 }));
    const far = Math.max(...lines.flatMap((x, i) => (i % 2 ? [] : [Math.hypot(x, lines[i + 1]!)])));
    expect(far).toBeCloseTo(1, 12);
    for (let i = 0, disc = planeBoundary("disc", 1); i < disc.length; i += 2) expect(Math.hypot(disc[i]!, disc[i + 1]!)).toBeCloseTo(1, 12);
  });
});
