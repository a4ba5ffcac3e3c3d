import { describe, expect, it } from "vitest";
import { History } from "../src/history";
import { trailOf } from "../src/picture/trail";
import { below, fit, ticks, toMetres, toPixels } from "../src/picture/view";

describe("view", () => {
  it("shows the whole extent, whatever the shape of the window", () => {
    for (const [width, height] of [
      [800, 600],
      [300, 900],
    ] as const) {
      const view = fit(width, height, 2.24);
      for (const [x, y] of [
        [2.24, 0],
        [0, -2.24],
        [-2.24, 2.24],
      ] as const) {
        const [px, py] = toPixels(view, x, y);
        expect(px).toBeGreaterThanOrEqual(-1e-9);
        expect(px).toBeLessThanOrEqual(width + 1e-9);
        expect(py).toBeGreaterThanOrEqual(-1e-9);
        expect(py).toBeLessThanOrEqual(height + 1e-9);
      }
    }
  });

  it("leaves room for a title, and moves only where that needs it", () => {
    const low = below(30, 390, 175, 2);
    expect(toPixels(low, 0, 2)[1]).toBeCloseTo(30, 12);
    expect(toPixels(low, 0, -2)[1]).toBeCloseTo(175, 12);
    expect(below(30, 390, 800, 2)).toEqual(fit(390, 800, 2));
    expect(below(0, 390, 175, 2)).toEqual(fit(390, 175, 2));
  });

  it("has y upwards, and pixels lead back to metres", () => {
    const view = fit(800, 600, 2);
    expect(toPixels(view, 0, 1)[1]).toBeLessThan(toPixels(view, 0, 0)[1]);
    const [x, y] = toMetres(view, ...toPixels(view, 0.3, -1.7));
    expect(x).toBeCloseTo(0.3, 12);
    expect(y).toBeCloseTo(-1.7, 12);
  });

  it("has round ticks with as many decimals as they need", () => {
    const half = ticks(fit(800, 700, 2.24));
    expect(half.y).toContain(0);
    expect(half.y[1]! - half.y[0]!).toBeCloseTo(0.5, 12);
    expect(half.decimals).toBe(1);
    expect(ticks(fit(300, 300, 3)).decimals).toBe(0);
  });
});

describe("trail", () => {
  const circle = (steps: number): History => {
    const history = new History(2, 10);
    for (let i = 0; i <= steps; i++) history.push(i * 0.1, [Math.cos(i * 0.3), Math.sin(i * 0.3)]);
    return history;
  };

  it("goes through its samples and bends between them as the motion did", () => {
    const trail = trailOf(circle(10), [0, 1], 1, 1);
    expect(trail.x.length).toBe(41);
    expect(trail.x[20]).toBeCloseTo(Math.cos(1.5), 12);
    const inner = trail.x.slice(4, -4).map((x, i) => Math.hypot(x, trail.y.slice(4, -4)[i]!));
    for (const radius of inner) expect(Math.abs(radius - 1)).toBeLessThan(1e-3); // chords would miss by 1e-2
  });

  it("stays round when samples come unevenly", () => {
    const history = new History(2, 10);
    for (const t of [0, 0.1, 0.2, 0.21, 0.3, 0.32, 0.4, 0.5, 0.6]) history.push(t, [Math.cos(3 * t), Math.sin(3 * t)]);
    const { x, y } = trailOf(history, [0, 1], 0.6, 1);
    for (let i = 4; i < x.length - 4; i++) expect(Math.abs(Math.hypot(x[i]!, y[i]!) - 1)).toBeLessThan(1e-3);
  });

  it("ages from the head to the tail", () => {
    const { age } = trailOf(circle(10), [0, 1], 1, 0.5);
    expect(age.at(-1)).toBeCloseTo(0, 12);
    expect(age[0]).toBe(1);
    expect([...age].sort((a, b) => b - a)).toEqual(age);
  });

  it("does not bridge a break", () => {
    const history = circle(3);
    history.interrupt();
    history.push(0.5, [5, 5]);
    const { x } = trailOf(history, [0, 1], 0.5, 1);
    expect(x.filter(Number.isNaN).length).toBe(1);
    expect(x.at(-1)).toBe(5);
  });
});
