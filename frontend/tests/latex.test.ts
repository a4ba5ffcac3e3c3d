import { describe, expect, it } from "vitest";
import { linesOf } from "../src/latex";

describe("lines of a formula", () => {
  it("are those of an aligned one, without marks", () => {
    const latex = String.raw`\begin{aligned}L &= \frac{m}{2}\\[4pt] \ddot{\theta} &= -\frac{g}{l} \sin \theta\\\end{aligned}`;
    expect(linesOf(latex)).toEqual([String.raw`L = \frac{m}{2}`, String.raw`\ddot{\theta} = -\frac{g}{l} \sin \theta`]);
  });

  it("leave a matrix within a line whole", () => {
    const matrix = String.raw`\begin{pmatrix}1 & 2\\3 & 4\end{pmatrix}`;
    expect(linesOf(String.raw`\begin{aligned}M &= ${matrix} \\ x &= \{1\}\end{aligned}`)).toEqual([`M = ${matrix}`, String.raw`x = \{1\}`]);
  });

  it("are one where nothing is aligned", () => {
    expect(linesOf("E = m c^2")).toEqual(["E = m c^2"]);
  });
});
