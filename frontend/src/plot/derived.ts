// A column that is computed from others by a typed formula.

import type { History } from "../history";
import type { Expression } from "./expression";

/** The values of a formula, one for each row of the history; only rows that are new are computed. */
export class Derived {
  #values: number[] = [];
  #edits = -1;
  readonly #inputs: number[];

  /** `columns` are those of the formula's names, in their order. */
  constructor(
    private readonly expression: Expression,
    private readonly columns: readonly (number | "t")[],
  ) {
    this.#inputs = columns.map(() => NaN);
  }

  values(history: History): readonly number[] {
    if (history.edits !== this.#edits) {
      this.#edits = history.edits;
      this.#values = [];
    }
    const columns = this.columns.map((column) => (column === "t" ? history.times : history.column(column)));
    for (let row = this.#values.length; row < history.length; row++) {
      columns.forEach((column, i) => (this.#inputs[i] = column[row]!));
      this.#values.push(this.expression.value(this.#inputs));
    }
    return this.#values;
  }
}
