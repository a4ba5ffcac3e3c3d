// Numbers and symbols as a textbook writes them.

const MINUS = "\u2212";
const NARROW_SPACE = "\u202f";

/** With a true minus sign and a fixed number of decimals, so that columns of numbers do not dance. */
export function fixed(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
}

/** In powers of ten: 1.2·10⁻¹³. */
export function scientific(value: number, digits = 1): string {
  if (value === 0) return "0";
  const [mantissa = "0", exponent = "0"] = Math.abs(value).toExponential(digits).split("e");
  const raised = [...String(Number(exponent))].map((c) => SUPERSCRIPTS[c] ?? c).join("");
  return `${value < 0 ? MINUS : ""}${mantissa}·10${raised}`;
}

const SUPERSCRIPTS: Record<string, string> = {
  "-": "⁻", "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹",
};

export function withUnit(text: string, unit: string): string {
  return unit ? `${text}${NARROW_SPACE}${unit}` : text;
}

/** "θ₁" apart: the letter, set in italics, and its index. */
export function symbolParts(symbol: string): { letter: string; index: string } {
  const match = /^(.*?)([\u2080-\u2089]*)$/u.exec(symbol);
  const index = [...(match?.[2] ?? "")].map((c) => String(c.charCodeAt(0) - 0x2080)).join("");
  return { letter: match?.[1] ?? symbol, index };
}

/** All bits of some numbers as hexadecimal text: two states are the same exactly when these are. */
export function bits(...parts: (number | Float64Array)[]): string {
  const numbers = parts.flatMap((part) => (typeof part === "number" ? [part] : [...part]));
  const view = new DataView(new ArrayBuffer(8 * numbers.length));
  numbers.forEach((number, index) => view.setFloat64(8 * index, number));
  const words = numbers.map((_, index) => view.getBigUint64(8 * index).toString(16).padStart(16, "0"));
  return words.join(" ");
}

/** Steps of 1, 2 or 5 times a power of ten, so that about `count` of them fill `span`. */
export function niceStep(span: number, count: number): number {
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = raw / power;
  return power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
}
