import { describe, expect, it } from "vitest";
import { namedLab } from "../src/connection";

describe("the lab in the address", () => {
  it.each([
    ["#/pendulum", "pendulum"],
    ["#/curved-space?v=1", "curved-space"],
    ["", ""],
    ["#pendulum", ""],
    ["#/../etc", ""],
  ])("%s names %s", (hash, name) => {
    expect(namedLab(hash)).toBe(name);
  });
});
