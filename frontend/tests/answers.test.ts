import { signal } from "@preact/signals";
import { describe, expect, it, vi } from "vitest";
import { type Answer, forgetAnswers, isAnswer, isCurrent, keepAnswer } from "../src/answers";
import { Studio } from "../src/studio";
import type { Controls, Curves, Download, Equations, Field, LabView, Notice, Shared, Surface, Welcome } from "../src/wire";
import { PROTOCOL } from "../src/wire";

// What the page asks a browser for as it is loaded.
vi.hoisted(() => {
  globalThis.matchMedia = (() => ({ matches: false, addEventListener: () => {} })) as unknown as typeof matchMedia;
  globalThis.requestAnimationFrame = () => 0;
});

const equations = (of: number | null): Equations => ({ type: "equations", of, message: "", items: [] });
const controls = (current: Record<string, number>, history = 0): Controls =>
  ({ type: "controls", phase: "ready", speed: 1, texts: {}, faults: [], current: { history, ...current } }) as unknown as Controls;
const view = (revision: number): LabView =>
  ({ name: "test", revision, coordinates: [{ name: "q" }], bodies: [], pictures: [], channels: [], plots: [] }) as unknown as LabView;
const welcome = (resumed: boolean): Welcome => ({
  type: "welcome",
  protocol: PROTOCOL,
  version: "",
  labs: [],
  session: "",
  resumed,
  lab: view(1),
});

describe("an answer", () => {
  it("is current while its number is that of the controls, for its type", () => {
    expect(isCurrent(equations(3), controls({ equations: 3 }))).toBe(true);
    expect(isCurrent(equations(2), controls({ equations: 3 }))).toBe(false);
    expect(isCurrent(equations(4), controls({ equations: 3 }))).toBe(false);
    expect(isCurrent(equations(3), controls({ surface: 3 }))).toBe(false);
    expect(isCurrent(equations(3), null)).toBe(false);
    expect(isCurrent(equations(null), null)).toBe(true);
  });

  it("is told from other notices", () => {
    expect(isAnswer(equations(1))).toBe(true);
    expect(isAnswer(controls({}))).toBe(false);
  });

  it("is kept where its type has a place, and forgotten once it is out of date", () => {
    const kept = { equations: signal<Equations | null>(null) };
    expect(keepAnswer(kept, equations(1))).toBe(true);
    expect(keepAnswer(kept, { type: "announced", of: 1, message: "" })).toBe(false);
    forgetAnswers(kept, (answer) => answer.of !== 1);
    expect(kept.equations.value?.of).toBe(1);
    forgetAnswers(kept);
    expect(kept.equations.value).toBeNull();
  });
});

/** A studio whose server is this test. */
function studio(): { page: Studio; say: (notice: Notice) => void } {
  let say: (notice: Notice) => void = () => {};
  const page = new Studio({
    can: () => true,
    open: (listener) => {
      say = listener.notice;
    },
    send: () => {},
    close: () => {},
  });
  page.open();
  return { page, say: (notice) => say(notice) };
}

const SURFACE = { type: "surface", picture: 0, rows: 0, columns: 0 } as unknown as Surface;
const FIELD = { type: "field", picture: 0, rows: 0, columns: 0 } as unknown as Field;
const KINDS: Record<string, (of: number) => Answer> = {
  equations,
  surface: (of) => ({ ...SURFACE, of }),
  field: (of) => ({ ...FIELD, of }),
  curves: (of): Curves => ({ type: "curves", of, picture: 0, curves: [], marks: [], note: "" }),
  shared: (of): Shared => ({ type: "shared", of, document: "{}" }),
  download: (of): Download => ({ type: "download", of, path: "download/x", filename: "x.csv" }),
};

describe("a page", () => {
  for (const [kind, answer] of Object.entries(KINDS)) {
    it(`shows ${kind} only of what it shows besides`, () => {
      const { page, say } = studio();
      const shown = (): number | null | undefined => (page[kind as "equations"].value as Answer | null)?.of;
      say(welcome(false));
      say(controls({ [kind]: 1 }));
      say(answer(1));
      expect(shown()).toBe(1);
      say(controls({ [kind]: 2 })); // the system was changed
      expect(shown()).toBeUndefined();
      say(answer(1)); // what was under way for the one before
      expect(shown()).toBeUndefined();
      say(answer(2));
      expect(shown()).toBe(2);
      say(welcome(true)); // the connection fell and came back: everything is asked for again
      expect(shown()).toBeUndefined();
      say(answer(2));
      expect(shown()).toBe(2);
    });
  }

  it("says sentences only of what it shows", () => {
    const { page, say } = studio();
    say(welcome(false));
    say(controls({ announced: 2, refused: 2 }));
    say({ type: "announced", of: 1, message: "of something else" });
    say({ type: "refused", of: 1, message: "of something else", command: "", setting: "", start: 0, end: 0 });
    expect(page.said.value).toBeNull();
    say({ type: "announced", of: 2, message: "of this" });
    expect(page.said.value).toBe("of this");
    page.close();
  });

  it("forgets what was plotted when another timeline begins", () => {
    const { page, say } = studio();
    say(welcome(false));
    say(controls({}, 1));
    page.history.push(0.5, []);
    say(controls({ surface: 7 }, 1));
    expect(page.history.length).toBe(1);
    say(controls({}, 2));
    expect(page.history.length).toBe(0);
  });
});
