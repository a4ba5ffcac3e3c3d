// Formulas typed for an axis, read into functions of numbers and never executed as JavaScript. The grammar, functions and
// constants are those of formulas in scene files (`holonomy.scene.expression`):
//
//   comparison := sum [("<" | "<=" | ">" | ">=") sum]          only as the first argument of where
//   sum        := product (("+" | "-") product)*
//   product    := signed (("*" | "/") signed)*
//   signed     := ("+" | "-") signed | power
//   power      := atom [("^" | "**") signed]                   so -x^2 = -(x^2) and a^b^c = a^(b^c)
//   atom       := number | name | function "(" comparison ("," comparison)* ")" | "(" sum ")"

/** Characters of a formula. */
export const LONGEST = 400;
/** Levels of parentheses, signs and powers inside each other. */
const DEEPEST = 50;
/** Arguments of min and max. */
const MANY = 16;

type Numbers = ArrayLike<number>;
type Evaluate = (inputs: Numbers) => number;

/** What is wrong with a formula, and at which characters. */
export class ExpressionError extends Error {
  constructor(
    message: string,
    readonly start: number,
    readonly end: number,
  ) {
    super(message);
  }
}

/** A formula ready to be computed: `value` takes the numbers of `names`, in that order. */
export interface Expression {
  readonly names: readonly string[];
  readonly value: Evaluate;
}

interface Definition {
  readonly least: number;
  readonly most: number;
  readonly compute: (...values: number[]) => number;
}

const one = (compute: (x: number) => number): Definition => ({ least: 1, most: 1, compute });

const DEFINITIONS: ReadonlyMap<string, Definition> = new Map([
  ...(["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"] as const).map(
    (name): [string, Definition] => [name, one(Math[name])],
  ),
  ["atan2", { least: 2, most: 2, compute: Math.atan2 }],
  ["exp", one(Math.exp)],
  ["log", one(Math.log)],
  ["sqrt", one(Math.sqrt)],
  ["abs", one(Math.abs)],
  ["sign", one(Math.sign)],
  ["min", { least: 2, most: MANY, compute: Math.min }],
  ["max", { least: 2, most: MANY, compute: Math.max }],
  ["where", { least: 3, most: 3, compute: (condition, yes, no) => (condition ? yes : no) }],
]);

export const FUNCTIONS: readonly string[] = [...DEFINITIONS.keys()];
export const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
]);

interface Token {
  readonly kind: "number" | "name" | "sign" | "end";
  readonly text: string;
  readonly at: number;
}

const TOKEN = /([ \t]+)|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|([A-Za-z_][A-Za-z0-9_]*)|(\*\*|<=|>=|[-+*/^(),<>])/y;

function tokensOf(text: string): Token[] {
  if (text.length > LONGEST) {
    throw new ExpressionError(`A formula may have ${LONGEST} characters, but this has ${text.length}.`, LONGEST, text.length);
  }
  const found: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new ExpressionError(`The character “${[...text.slice(at)][0]}” has no meaning in a formula.`, at, at + 1);
    const [word, space, number, name] = match;
    if (!space) found.push({ kind: number ? "number" : name ? "name" : "sign", text: word, at });
  }
  return [...found, { kind: "end", text: "", at: text.length }];
}

/** The formula that a text spells, of these names. Throws `ExpressionError` where it is none. */
export function parse(text: string, known: ReadonlySet<string>): Expression {
  return new Parser(tokensOf(text), known).whole();
}

/** A comparison must not stand where a number should, so it is told apart. */
interface Part {
  readonly value: Evaluate;
  readonly comparison: boolean;
}

class Parser {
  readonly #names: string[] = [];
  #place = 0;
  #depth = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly known: ReadonlySet<string>,
  ) {}

  whole(): Expression {
    if (this.tokens.length === 1) throw this.#error("Type a formula, such as theta1 + theta2");
    const value = this.#sum();
    if (/^[<>]/.test(this.#here.text)) throw this.#error("A comparison is only for the first argument of where(…)");
    if (this.#here.kind !== "end") throw this.#error(this.#unexpected());
    return { names: this.#names, value };
  }

  get #here(): Token {
    return this.tokens[this.#place]!;
  }

  /** The present sign, passed over, when it is one of these. */
  #take(...texts: string[]): string | null {
    if (this.#here.kind !== "sign" || !texts.includes(this.#here.text)) return null;
    return this.tokens[this.#place++]!.text;
  }

  #error(problem: string, token: Token = this.#here): ExpressionError {
    return new ExpressionError(`${problem}.`, token.at, token.at + token.text.length);
  }

  #unexpected(): string {
    const { kind, text } = this.#here;
    if (kind === "end") return "A closing parenthesis is missing";
    if (kind !== "sign" || text === "(") return `There is no operator before “${text}”: a product is written with *`;
    return `“${text}” is not expected here`;
  }

  #comparison(): Part {
    const left = this.#sum();
    const sign = this.#take("<", "<=", ">", ">=");
    if (!sign) return { value: left, comparison: false };
    const right = this.#sum();
    const holds: Record<string, (a: number, b: number) => boolean> = {
      "<": (a, b) => a < b,
      "<=": (a, b) => a <= b,
      ">": (a, b) => a > b,
      ">=": (a, b) => a >= b,
    };
    const compare = holds[sign]!;
    return { value: (inputs) => Number(compare(left(inputs), right(inputs))), comparison: true };
  }

  #sum(): Evaluate {
    let value = this.#product();
    for (let sign = this.#take("+", "-"); sign; sign = this.#take("+", "-")) {
      const [left, right] = [value, this.#product()];
      value = sign === "+" ? (inputs) => left(inputs) + right(inputs) : (inputs) => left(inputs) - right(inputs);
    }
    return value;
  }

  #product(): Evaluate {
    let value = this.#signed();
    for (let sign = this.#take("*", "/"); sign; sign = this.#take("*", "/")) {
      const [left, right] = [value, this.#signed()];
      value = sign === "*" ? (inputs) => left(inputs) * right(inputs) : (inputs) => left(inputs) / right(inputs);
    }
    return value;
  }

  #signed(): Evaluate {
    if (++this.#depth > DEEPEST) throw this.#error(`More than ${DEEPEST} signs, powers and parentheses stand inside each other`);
    const sign = this.#take("+", "-");
    const part = sign ? this.#signed() : this.#power();
    this.#depth--;
    return sign === "-" ? (inputs) => -part(inputs) : part;
  }

  #power(): Evaluate {
    const base = this.#atom();
    if (!this.#take("^", "**")) return base;
    const exponent = this.#signed();
    return (inputs) => base(inputs) ** exponent(inputs);
  }

  #atom(): Evaluate {
    const word = this.#here;
    if (this.#take("(")) {
      const inner = this.#sum();
      this.#close();
      return inner;
    }
    if (word.kind === "end") throw this.#error("The formula ends where a value is expected");
    if (word.kind === "sign") throw this.#error(`A value is expected where “${word.text}” stands`);
    this.#place++;
    if (word.kind === "name") return this.#take("(") ? this.#call(word) : this.#named(word);
    const value = Number(word.text);
    if (!Number.isFinite(value)) throw this.#error("This number is too large", word);
    return () => value;
  }

  #named(word: Token): Evaluate {
    const constant = CONSTANTS.get(word.text);
    if (constant !== undefined && !this.known.has(word.text)) return () => constant;
    if (DEFINITIONS.has(word.text)) throw this.#error(`The function ${word.text} needs its arguments in parentheses`, word);
    if (!this.known.has(word.text)) throw this.#error(`There is no variable “${word.text}”`, word);
    if (!this.#names.includes(word.text)) this.#names.push(word.text);
    const place = this.#names.indexOf(word.text);
    return (inputs) => inputs[place]!;
  }

  #call(word: Token): Evaluate {
    const found = DEFINITIONS.get(word.text);
    if (!found) throw this.#error(`There is no function “${word.text}”`, word);
    const parts = this.#here.text === ")" ? [] : [this.#comparison()];
    while (this.#take(",")) parts.push(this.#comparison());
    this.#close();
    const { least, most, compute } = found;
    if (parts.length < least || parts.length > most) {
      const count = least === most ? String(least) : `${least} or more`;
      throw this.#error(`${word.text} takes ${count} argument${most === 1 ? "" : "s"}, here it has ${parts.length}`, word);
    }
    parts.forEach((part, i) => {
      const condition = word.text === "where" && i === 0;
      if (condition && !part.comparison) throw this.#error("The first argument of where is a comparison, as in where(x < 0, a, b)", word);
      if (!condition && part.comparison) throw this.#error("A comparison is only for the first argument of where(…)", word);
    });
    const values = parts.map((part) => part.value);
    const [first] = values;
    if (values.length === 1) return (inputs) => compute(first!(inputs));
    return (inputs) => compute(...values.map((value) => value(inputs)));
  }

  #close(): void {
    if (!this.#take(")")) throw this.#error(this.#unexpected());
  }
}
