// Numbers as people type them: 2,5 and 9.81/6 and 1e6 and 2π.

/** What was typed as a number, or null where it is none. Nothing is executed. */
export function parseNumber(text: string): number | null {
  const plain = text.trim().replaceAll("−", "-").replaceAll("×", "*").replaceAll("·", "*").replaceAll("÷", "/").replace(/\s+/g, "");
  if (plain === "" || plain.length > 100) return null;
  // One comma is a decimal comma; several, or a comma beside a point, could mean thousands.
  if (plain.includes(",") && (plain.includes(".") || /,\d*,/.test(plain))) return null;
  const reader = new Reader(plain.replaceAll(",", "."));
  const value = reader.sum();
  return value !== null && reader.ended && Number.isFinite(value) ? value : null;
}

/** Sums of products of powers of numbers and parentheses; each method returns null where it cannot read on. */
class Reader {
  #at = 0;

  constructor(private readonly text: string) {}

  get ended(): boolean {
    return this.#at === this.text.length;
  }

  sum(): number | null {
    let value = this.#product();
    for (let sign = this.#take("+-"); value !== null && sign; sign = this.#take("+-")) {
      const next = this.#product();
      value = next === null ? null : sign === "+" ? value + next : value - next;
    }
    return value;
  }

  #product(): number | null {
    let value = this.#signed();
    while (value !== null) {
      const sign = this.#take("*/");
      if (!sign && !/[(πp]/.test(this.text[this.#at] ?? "")) return value; // 2π and 2(3 + 4) are products too
      const next = this.#signed();
      value = next === null ? null : sign === "/" ? value / next : value * next;
    }
    return value;
  }

  #signed(): number | null {
    const sign = this.#take("+-");
    if (!sign) return this.#power();
    const value = this.#signed();
    return value === null ? null : sign === "-" ? -value : value;
  }

  #power(): number | null {
    const base = this.#single();
    if (base === null || !this.#take("^")) return base;
    const exponent = this.#signed();
    return exponent === null ? null : base ** exponent;
  }

  #single(): number | null {
    if (this.#take("(")) {
      const value = this.sum();
      return this.#take(")") ? value : null;
    }
    const found = /^(?:π|pi|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/i.exec(this.text.slice(this.#at));
    if (!found) return null;
    this.#at += found[0].length;
    return /^(?:π|pi)$/i.test(found[0]) ? Math.PI : Number(found[0]);
  }

  #take(letters: string): string {
    const letter = this.text[this.#at] ?? "";
    if (letter === "" || !letters.includes(letter)) return "";
    this.#at += 1;
    return letter;
  }
}
