import { describe, expect, it } from "vitest";
import { fromLink, readFragment, toLink, writeFragment } from "../src/encode";

describe("links", () => {
  it("carry any text and no letter that an address minds", () => {
    for (const text of ["", "a", "ab", "abc", '{"q":[0.1,-2e-300],"name":"θ₁ ∈ S¹"}', "\u0000\uffff".repeat(99)]) {
      const code = toLink(text);
      expect(code).toMatch(/^[A-Za-z0-9_-]*$/);
      expect(fromLink(code)).toBe(text);
    }
  });

  it("are refused when they were cut or changed", () => {
    expect(fromLink("a")).toBeNull();
    expect(fromLink("!!!!")).toBeNull();
    expect(fromLink(toLink("θ").slice(0, 2))).toBeNull(); // half a letter
  });

  it("name a lab, and perhaps a state", () => {
    expect(readFragment("#/pendulum")).toEqual({ lab: "pendulum", state: null });
    expect(readFragment(writeFragment("pendulum", "{}"))).toEqual({ lab: "pendulum", state: toLink("{}") });
    for (const none of ["", "#", "#/", "#/<b>", "#pendulum", "#/a?s=%"]) expect(readFragment(none)).toEqual({ lab: "", state: null });
  });
});
