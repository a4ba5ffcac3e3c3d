import { expect, test } from "vitest";
import { verdictOn } from "../src/verdict";

const view = {
  energies: [
    { name: "kinetic", label: "", symbol: "", group: "", total: false },
    { name: "potential", label: "", symbol: "", group: "", total: false },
    { name: "total", label: "", symbol: "", group: "", total: true },
  ],
};
const energies = (...values: number[]) => Float64Array.from(values);

test("a small drift is good, a large one doubtful, and its size is said", () => {
  const strict = { drift_limit: 0.01 };
  expect(verdictOn({ drift: 0.005, energy: energies(0.5, 0.505, 1.005) }, view, strict).word).toBe("good");
  const bad = verdictOn({ drift: -0.5, energy: energies(0.2, 0.3, 0.5) }, view, strict);
  expect(bad.word).toBe("doubtful");
  expect(bad.reason).toContain("0.50 times its size");
});

test("a motion whose energy starts at zero is measured by its kinetic energy", () => {
  const strict = { drift_limit: 0.01 };
  expect(verdictOn({ drift: 0.001, energy: energies(2, -1.999, 0.001) }, view, strict).word).toBe("good");
  expect(verdictOn({ drift: 0.1, energy: energies(2, -1.9, 0.1) }, view, strict).word).toBe("doubtful");
});

test("where energy is not conserved a drift is no error, but infinity is", () => {
  const damped = { drift_limit: null };
  expect(verdictOn({ drift: -5, energy: energies(1, 2, 3) }, view, damped).word).toBe("good");
  expect(verdictOn({ drift: Number.NaN, energy: energies(1, 2, Number.NaN) }, view, damped).word).toBe("failed");
});

test("a motion is doubtful once small errors have grown to its size", () => {
  const chaotic = { drift_limit: 0.01, known_until: 9.5 };
  const at = (time: number) => verdictOn({ drift: 0, energy: energies(1, 2, 3), time }, view, chaotic);
  expect(at(9).word).toBe("good");
  expect(at(10).word).toBe("doubtful");
  expect(at(10).reason).toContain("From t = 9.500 on");
});

test("before the first frame there is no verdict", () => {
  expect(verdictOn(null, view, { drift_limit: 0.01 }).word).toBe("–");
});
