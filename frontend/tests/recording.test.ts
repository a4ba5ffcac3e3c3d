import { describe, expect, it } from "vitest";
import { type Clock, type Head, Recording, type Supply } from "../src/recording";
import type { Listener } from "../src/source";
import { Tape } from "../src/tape";
import { type Command, type Controls, type Frame, FrameFlag, type Notice } from "../src/wire";

/** Rows of a motion x = t with energy 7, ten a second: time, energy, x, velocity; then a fixed point and the body. */
function rows(first: number, count: number): ArrayBuffer {
  const data = new DataView(new ArrayBuffer(count * (8 * 4 + 4 * 4)));
  for (let i = 0; i < count; i++) {
    const t = (first + i) / 10;
    [t, 7, t, 1].forEach((value, k) => data.setFloat64(8 * (4 * i + k), value, true));
    [0, 0, t, 0].forEach((value, k) => data.setFloat32(8 * 4 * count + 4 * (4 * i + k), value, true));
  }
  return data.buffer;
}

const channel = { unit: "", label: "", period: null, colour: null, ghost: false, logarithmic: false, meter: null, highlight: false };

function head(count: number): Head {
  const lab = {
    name: "run",
    title: "",
    summary: "",
    revision: 1,
    anchors: 1,
    pictures: [{ name: "p", title: "", kind: "plane" }],
    coordinates: [{ name: "x", symbol: "x", unit: "m", rate_symbol: "v", rate_unit: "m/s", period: null }],
    parameters: [],
    choices: [],
    toggles: [],
    actions: [],
    rods: [],
    method: "",
    dt: 0.05,
    frame_seconds: 0.1,
    speed_low: 0.1,
    speed_high: 10,
    bodies: [{ label: "body", trail: true, colour: 0, ghost: false, grasp: false, throws: false, picture: 0 }],
    energies: [{ name: "total", label: "", symbol: "E", group: "", total: true }],
    channels: ["total", "x", "v"].map((name) => ({ ...channel, name, symbol: name, group: name })),
    plots: [{ title: "", kind: "time", x: ["t"], y: ["x"], seconds: 5 }],
  };
  const controls = {
    type: "controls",
    phase: "ready",
    message: "",
    playing: false,
    speed: 1,
    held: null,
    parameters: {},
    choices: {},
    toggles: {},
    texts: {},
    extents: [2],
    radii: [0.1],
    certificate: { engine: "", method: "", traits: [], note: "", drift_limit: null, known_until: null },
    undo: null,
    redo: null,
  };
  const welcome = { type: "welcome", protocol: 2, version: "", labs: [], session: "", resumed: false, lab };
  const state = { q: [1], v: [2], energy: [0], strain: [] };
  const sizes = { rows: count, width: 3, points: 2, dimension: 2 };
  return { welcome, controls, steps: 2 * (count - 1), ...sizes, state, behind: [] } as unknown as Head;
}

/** A clock that ticks when it is told to. */
class Hand implements Clock {
  #draw: ((now: number) => void) | null = null;
  #now = 0;

  next(draw: (now: number) => void): number {
    this.#draw = draw;
    return 1;
  }

  cancel(): void {
    this.#draw = null;
  }

  get idle(): boolean {
    return this.#draw === null;
  }

  tick(milliseconds: number): void {
    this.#now += milliseconds;
    const draw = this.#draw;
    this.#draw = null;
    draw?.(this.#now);
  }
}

function opened(count: number, supply: Supply | null = null) {
  const [clock, frames, notices] = [new Hand(), [] as Frame[], [] as Notice[]];
  const recording = new Recording(head(count), rows(0, count), supply, clock);
  const listener: Listener = { link: () => {}, notice: (notice) => notices.push(notice), frame: (frame) => frames.push(frame) };
  recording.open(listener);
  const controls = (): Controls => notices.filter((notice) => notice.type === "controls").at(-1)!;
  return { recording, clock, frames, notices, controls, last: () => frames.at(-1)! };
}

const play = (clock: Hand, seconds: number): void => {
  for (let i = 0; i <= seconds * 20; i++) clock.tick(50);
};
const times = (frame: Frame): number[] => Array.from({ length: frame.samples }, (_, i) => frame.sample[i * frame.sample_width]!);

describe("a tape", () => {
  it("finds rows by time", () => {
    const tape = new Tape({ table: 4, places: 4 });
    tape.append(11, rows(0, 11));
    expect([tape.at(-1), tape.at(0.35), tape.at(0.4), tape.at(9)]).toEqual([0, 3, 4, 10]);
    expect([tape.nearest(0.34), tape.nearest(0.36), tape.nearest(9)]).toEqual([3, 4, 10]);
    tape.cut(5);
    tape.append(2, rows(50, 2));
    expect([tape.length, tape.time(5), tape.places(5)[2]]).toEqual([7, 5, 5]);
  });

  it("refuses numbers that do not fit", () => {
    expect(() => new Tape({ table: 4, places: 4 }).append(2, rows(0, 1))).toThrow(RangeError);
  });
});

describe("a recording", () => {
  it("opens with its first state and offers only what it can do", () => {
    const { recording, notices, frames } = opened(21);
    expect(notices[0]!.type).toBe("welcome");
    expect([...frames[0]!.q, ...frames[0]!.v, ...frames[0]!.energy]).toEqual([0, 1, 7]);
    expect(frames[0]).toMatchObject({ time: 0, oldest: 0, newest: 2, points: 2, dimension: 2, drift: 0 });
    const offered = (["play", "pause", "step", "seek", "set-speed", "reset"] as const).every((type) => recording.can(type));
    expect(offered).toBe(true);
    expect((["undo", "drag-begin", "set-parameter", "share", "export", "ask-equations"] as const).some((type) => recording.can(type))).toBe(
      false,
    );
  });

  it("plays saved states in time with the clock, and stops at its end", () => {
    const { recording, clock, last, controls } = opened(21);
    recording.send({ type: "play" });
    play(clock, 1);
    expect(last().time).toBeCloseTo(1, 12);
    expect(last().flags & FrameFlag.PLAYING).toBe(FrameFlag.PLAYING);
    expect(last().position[2]).toBeCloseTo(1, 6);
    play(clock, 2);
    expect(last()).toMatchObject({ time: 2, steps: 40 });
    expect([controls().playing, clock.idle]).toEqual([false, true]);
    recording.send({ type: "play" }); // again from the beginning
    expect(last().time).toBe(0);
  });

  it("hands every row over once, in order, so that curves have no gap", () => {
    const { recording, clock, frames } = opened(21);
    recording.send({ type: "set-speed", value: 5 });
    recording.send({ type: "play" });
    play(clock, 1);
    const seen = frames.flatMap(times).filter((time, i, all) => time !== all[i - 1]);
    expect(seen).toEqual(Array.from({ length: 21 }, (_, i) => i / 10));
  });

  it("steps, seeks and goes back to the same bits, with the past of that moment", () => {
    const { recording, last } = opened(21);
    recording.send({ type: "step", frames: 3, repeat: false });
    expect(last().time).toBe(0.3);
    recording.send({ type: "seek", time: 1.52, settled: true });
    expect(last().time).toBe(1.5);
    recording.send({ type: "step", frames: -10, repeat: false });
    expect(last().time).toBe(0.5);
    expect(times(last())).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5]);
    recording.send({ type: "step", frames: -600, repeat: false });
    expect(last().time).toBe(0);
    recording.send({ type: "step", frames: 600, repeat: false });
    expect(last().time).toBe(2);
    recording.send({ type: "reset", defaults: true });
    expect(last().time).toBe(0);
  });

  it("does not leap after the page was hidden", () => {
    const { recording, clock, last } = opened(101);
    recording.send({ type: "play" });
    clock.tick(0);
    clock.tick(60_000);
    expect(last().time).toBeLessThan(0.11);
  });
});

describe("a motion that is computed ahead", () => {
  function live() {
    const asked: [number, number][] = [];
    const changes: [Command, number][] = [];
    const supply: Supply = {
      can: (command) => ["set-parameter", "drag-begin", "drag-move", "drag-end"].includes(command),
      ask: (first, count) => asked.push([first, count]),
      change: (command, row) => changes.push([command, row]),
    };
    return { asked, changes, ...opened(11, supply) };
  }

  it("asks once for what it will need, and goes on when it has come", () => {
    const { recording, clock, asked, last, controls } = live();
    recording.send({ type: "play" });
    play(clock, 2);
    expect(asked.map(([first]) => first)).toEqual([11]);
    expect(last().time).toBe(1); // waits at the end of what there is
    expect(controls().playing).toBe(true);
    recording.append(20, rows(11, 20));
    play(clock, 1);
    expect(last().time).toBeCloseTo(2, 12);
    expect(controls().extents[0]).toBeCloseTo(3.6, 5); // x has come to 3, past the picture's edge at 2
  });

  it("takes a turn where it is told to", () => {
    const { recording, changes, last } = live();
    recording.send({ type: "step", frames: 4, repeat: false });
    recording.send({ type: "set-parameter", name: "g", value: 2, settled: true });
    expect(changes).toEqual([[{ type: "set-parameter", name: "g", value: 2, settled: true }, 4]]);
    recording.turn(4, rows(4, 1), { parameters: { g: 2 } });
    expect(recording.length).toBe(5);
    expect(last()).toMatchObject({ time: 0.4, newest: 0.4 });
  });

  it("sends one change at a time, and of those that wait the newest of a kind", () => {
    const { recording, changes } = live();
    recording.send({ type: "drag-begin", body: 0 });
    for (const x of [1, 2, 3]) recording.send({ type: "drag-move", x, y: 0, z: 0 });
    recording.send({ type: "drag-end", x: 0, y: 0, z: 0 });
    expect(changes.length).toBe(1);
    recording.turn(0, rows(0, 1), {});
    expect(changes.at(-1)![0]).toMatchObject({ type: "drag-move", x: 3 });
    recording.refuse("no", "drag-move");
    expect(changes.map(([command]) => command.type)).toEqual(["drag-begin", "drag-move", "drag-end"]);
  });

  it("holds time while a body is held, and goes on after", () => {
    const { recording, clock, controls } = live();
    recording.send({ type: "play" });
    clock.tick(50);
    recording.send({ type: "drag-begin", body: 0 });
    expect(controls().playing).toBe(false);
    recording.send({ type: "drag-end", x: 0, y: 0, z: 0 });
    expect(controls().playing).toBe(true);
  });
});
