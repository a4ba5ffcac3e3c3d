// The recent past: what plots and trails are drawn from.

/** By how much more than asked is kept before the oldest rows are cut off all at once: cutting at each row would cost more. */
const SLACK = 1.25;
/** Numbers that are kept at most; beyond, every second row of the older half goes, so that a whole run stays in sight. */
const MOST_NUMBERS = 2_000_000;
/** Rows beyond which drawing them would cost too much, however few numbers they have. */
const MOST_ROWS = 16_000;

/**
 * Rows of time and `width` numbers in the order of time, at least the last `longest` seconds of them. A row of NaN
 * stands between two rows that do not continue each other, because the motion was changed by hand between them.
 */
export class History {
  #times: number[] = [];
  #columns: number[][] = [];
  #broken = false;
  #edits = 0;
  #epoch = 0;

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

  /** Grows whenever rows were changed otherwise than by adding one at the end. */
  get edits(): number {
    return this.#edits;
  }

  /** Grows whenever everything was forgotten. */
  get epoch(): number {
    return this.#epoch;
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
    this.#edits++;
    this.#epoch++;
  }

  /** Take other columns from now on: old column `from[i]` as the i-th, and one without a past where that is negative. */
  rearrange(from: readonly number[]): void {
    this.#edits++;
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
    if (this.#times.length > Math.min(MOST_ROWS, MOST_NUMBERS / (this.width + 1))) this.#thin();
  }

  /** Keep every second row of the older half, and all where the motion was changed by hand. */
  #thin(): void {
    const half = this.#times.length >> 1;
    const first = this.#columns[0];
    const kept: number[] = [];
    for (let i = 0; i < this.#times.length; i++) if (i >= half || i % 2 === 0 || (first && Number.isNaN(first[i]))) kept.push(i);
    this.#edits++;
    this.#times = kept.map((i) => this.#times[i]!);
    this.#columns = this.#columns.map((column) => kept.map((i) => column[i]!));
  }

  #row(time: number, value: (column: number) => number): void {
    this.#times.push(time);
    for (let i = 0; i < this.#columns.length; i++) this.#columns[i]!.push(value(i));
  }

  #keep(start: number, end: number): void {
    this.#edits++;
    this.#times = this.#times.slice(start, end);
    this.#columns = this.#columns.map((column) => column.slice(start, end));
  }
}
