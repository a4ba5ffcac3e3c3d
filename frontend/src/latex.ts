// LaTeX, as far as the page must understand it.

const ALIGNED = /^\s*\\begin\{(aligned|align\*?|split)\}([\s\S]*)\\end\{\1\}\s*$/;

/** The lines of an aligned formula, without their marks of alignment; any other formula is one line. */
export function linesOf(latex: string): string[] {
  const body = ALIGNED.exec(latex)?.[2];
  if (body === undefined) return [latex];
  const lines = [""];
  let depth = 0;
  for (const [piece] of body.matchAll(/\\\\(?:\[[^\]]*\])?|\\begin|\\end|\\.|[{}&]|[^\\{}&]+/gs)) {
    if (piece === "{" || piece === "\\begin") depth++;
    if (piece === "}" || piece === "\\end") depth--;
    if (depth === 0 && piece.startsWith("\\\\")) lines.push("");
    else if (!(depth === 0 && piece === "&")) lines[lines.length - 1] += piece;
  }
  return lines.map((line) => line.trim()).filter((line) => line !== "");
}
