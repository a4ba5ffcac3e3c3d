// KaTeX and its fonts, apart from the rest of the page: it is loaded with the first formula.

import katex from "katex";
import "katex/dist/katex.min.css";
import { linesOf } from "./latex";

/**
 * Set a displayed formula, each line of an aligned one from the left: lines of very different lengths aligned at their
 * equals signs would need a page several times as wide. It builds elements rather than text, so the content security
 * policy may forbid inline styles.
 */
export default function setFormula(latex: string, place: HTMLElement): void {
  place.replaceChildren();
  for (const line of linesOf(latex)) {
    const row = document.createElement("div");
    place.append(row);
    katex.render(line, row, { displayMode: true, fleqn: true, throwOnError: false, strict: "ignore", output: "htmlAndMathml" });
  }
}
