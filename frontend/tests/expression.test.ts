import { describe, expect, it } from "vitest";
import { type ExpressionError, parse } from "../src/plot/expression";

const known = new Set(["x", "y", "theta1", "t"]);
const value = (text: string, inputs: Record<string, number> = {}): number => {
  const { names, value } = parse(text, known);
  return value(names.map((name) => inputs[name]!));
};
const error = (text: string): [string, string] => {
  try {
    parse(text, known);
  } catch (caught) {
    const { message, start, end } = caught as ExpressionError;
    return [text.slice(start, end), message];
  }
  throw new Error(`${text} was taken for a formula`);
};

describe("formulas", () => {
  it("are computed with the usual precedence", () => {
    expect(value("1 + 2*3^2")).toBe(19);
    expect(value("-x^2", { x: 3 })).toBe(-9);
    expect(value("2^3^2")).toBe(512);
    expect(value("2**-1")).toBe(0.5);
    expect(value("8/4/2 - 1 - 1")).toBe(-1);
    expect(value("(x + y)*t", { x: 1, y: 2, t: 5 })).toBe(15);
    expect(value(".5e1 + 1.")).toBe(6);
  });

  it("know the functions and constants of scene files", () => {
    expect(value("sin(pi/2) + cos(0) + log(e)")).toBeCloseTo(3, 15);
    expect(value("atan2(y, x)", { x: -1, y: 0 })).toBe(Math.PI);
    expect(value("max(1, x, 2) - min(x, 2)", { x: 5 })).toBe(3);
    expect(value("where(x < 0, -1, where(x >= 2, sqrt(4), abs(-3)))", { x: 1 })).toBe(3);
    expect(value("sign(-2) + tanh(0) + asinh(0) + exp(0)")).toBe(0);
  });

  it("say what is wrong and where", () => {
    expect(error("theta1 + thet")).toEqual(["thet", "There is no variable “thet”."]);
    expect(error("2 x")).toEqual(["x", "There is no operator before “x”: a product is written with *."]);
    expect(error("sin x")).toEqual(["sin", "The function sin needs its arguments in parentheses."]);
    expect(error("sim(x)")).toEqual(["sim", "There is no function “sim”."]);
    expect(error("atan2(x)")).toEqual(["atan2", "atan2 takes 2 arguments, here it has 1."]);
    expect(error("(x + 1")).toEqual(["", "A closing parenthesis is missing."]);
    expect(error("x + ")).toEqual(["", "The formula ends where a value is expected."]);
    expect(error("x * / y")).toEqual(["/", "A value is expected where “/” stands."]);
    expect(error("x < 1")).toEqual(["<", "A comparison is only for the first argument of where(…)."]);
    expect(error("where(x, 1, 2)")[1]).toMatch(/first argument of where is a comparison/);
    expect(error("θ + 1")).toEqual(["θ", "The character “θ” has no meaning in a formula."]);
    expect(error("1e999")).toEqual(["1e999", "This number is too large."]);
    expect(error("")[1]).toMatch(/^Type a formula/);
  });

  it("cannot reach anything but numbers", () => {
    for (const text of ["constructor", "x.constructor", "x[0]", "`x`", "x = 1", "this", "__proto__", "toString()", "alert(1)", "x; y"])
      error(text);
    error(`${"(".repeat(60)}x${")".repeat(60)}`);
    error("x".repeat(401));
  });
});
