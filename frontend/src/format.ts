// Numbers and symbols as a textbook writes them.

const MINUS = "\u2212";
const NARROW_SPACE = "\u202f";

/** With a true minus sign and a fixed number of decimals, so that columns of numbers do not dance. */
export function fixed(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
}

/** A number in powers of ten, as mantissa and exponent; zero has no exponent. */
export function scientific(value: number, digits = 1): { mantissa: string; exponent: string | null } {
  if (value === 0) return { mantissa: "0", exponent: null };
  const [mantissa = "0", exponent = "0"] = Math.abs(value).toExponential(digits).split("e");
  return { mantissa: (value < 0 ? MINUS : "") + mantissa, exponent: fixed(Number(exponent), 0) };
}

/** An angle without its whole turns, in [−period/2, period/2); other coordinates as they are. */
export function within(value: number, period: number | null): number {
  return period === null ? value : value - period * Math.floor(value / period + 0.5);
}

/** As few digits as tell it apart, three at most. */
export function shortNumber(value: number): string {
  return String(Number(value.toPrecision(3))).replace("-", MINUS);
}

export function withUnit(text: string, unit: string): string {
  return unit ? `${text}${NARROW_SPACE}${unit}` : text;
}

/** "θ₁′" apart: the letter, set in italics, its index, and primes. */
export function symbolParts(symbol: string): { letter: string; index: string; prime: string } {
  const match = /^(.*?)([\u2080-\u2089]*)(\u2032*)$/u.exec(symbol);
  const index = [...(match?.[2] ?? "")].map((c) => String(c.charCodeAt(0) - 0x2080)).join("");
  return { letter: match?.[1] ?? symbol, index, prime: match?.[3] ?? "" };
}

/** All bits of some numbers as hexadecimal text: two states are the same exactly when these are. */
export function bits(...parts: (number | Float64Array)[]): string {
  const numbers = parts.flatMap((part) => (typeof part === "number" ? [part] : [...part]));
  const view = new DataView(new ArrayBuffer(8 * numbers.length));
  numbers.forEach((number, index) => view.setFloat64(8 * index, number));
  const words = numbers.map((_, index) =>
    view
      .getBigUint64(8 * index)
      .toString(16)
      .padStart(16, "0"),
  );
  return words.join(" ");
}

/** Steps of 1, 2 or 5 times a power of ten, so that about `count` of them fill `span`. */
export function niceStep(span: number, count: number): number {
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = raw / power;
  return power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
}
