// The recent past: what plots and trails are drawn from.

/** By how much more than asked is kept before the oldest rows are cut off all at once: cutting at each row would cost more. */
const SLACK = 1.25;

/**
 * Rows of time and `width` numbers in the order of time, at least the last `longest` seconds of them. A row of NaN
 * stands between two rows that do not continue each other, because the motion was changed by hand between them.
 */
export class History {
  #times: number[] = [];
  #columns: number[][] = [];
  #broken = false;

  constructor(
    width: number,
    /** May be changed; what is gone does not come back. */
    public longest: number,
  ) {
    this.clear(width);
  }

  get length(): number {
    return this.#times.length;
  }

  get width(): number {
    return this.#columns.length;
  }

  get times(): readonly number[] {
    return this.#times;
  }

  /** The numbers of one column, one for each time. */
  column(index: number): readonly number[] {
    return this.#columns[index] ?? [];
  }

  /** The index of the first row at `time` or after it. */
  first(time: number): number {
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#times[middle]! < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Forget everything, and take rows of `width` numbers from now on. */
  clear(width: number): void {
    this.#times = [];
    this.#columns = Array.from({ length: width }, () => []);
    this.#broken = false;
  }

  /** Take other columns from now on: old column `from[i]` as the i-th, and one without a past where that is negative. */
  rearrange(from: readonly number[]): void {
    const empty = (): number[] => this.#times.map(() => NaN);
    this.#columns = from.map((column) => this.#columns[column] ?? empty());
    this.#columns = this.#columns.map((column, i) => (this.#columns.indexOf(column) === i ? column : [...column]));
  }

  /** The next row does not continue the last one. */
  interrupt(): void {
    this.#broken = true;
  }

  /** Add a row. Rows at or after its time belong to a future that has been left, and go. */
  push(time: number, values: ArrayLike<number>): void {
    const end = this.first(time);
    if (end < this.#times.length) this.#keep(0, end);
    if (this.#times.length > 0 && this.#times[0]! < time - SLACK * this.longest) {
      this.#keep(this.first(time - this.longest), this.#times.length);
    }
    if (this.#broken && this.#times.length > 0) {
      const before = this.#times[this.#times.length - 1]!;
      this.#row((before + time) / 2, () => NaN);
    }
    this.#broken = false;
    this.#row(time, (column) => values[column] ?? NaN);
  }

  #row(time: number, value: (column: number) => number): void {
    this.#times.push(time);
    for (let i = 0; i < this.#columns.length; i++) this.#columns[i]!.push(value(i));
  }

  #keep(start: number, end: number): void {
    this.#times = this.#times.slice(start, end);
    this.#columns = this.#columns.map((column) => column.slice(start, end));
  }
}
