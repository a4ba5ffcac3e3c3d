// What the plots show: the recent past, with a gap wherever the motion was changed by hand.

/** Rows of time and `width` values, at most `longest` seconds of them, always in the order of time. */
export class History {
  #times: number[] = [];
  #columns: (number | null)[][] = [];
  #broken = false;

  constructor(
    width: number,
    readonly longest: number,
  ) {
    this.clear(width);
  }

  get length(): number {
    return this.#times.length;
  }

  /** Time first, then one array per value: what uPlot takes. */
  get data(): [number[], ...(number | null)[][]] {
    return [this.#times, ...this.#columns];
  }

  /** Forget everything, and take rows of `width` values from now on. */
  clear(width: number): void {
    this.#times = [];
    this.#columns = Array.from({ length: width }, () => []);
    this.#broken = false;
  }

  /** The next row does not continue the last one. */
  interrupt(): void {
    this.#broken = true;
  }

  /** Add a row. Rows at or after its time belong to a future that has been left, and go. */
  push(time: number, values: ArrayLike<number>): void {
    let end = this.#times.length;
    while (end > 0 && this.#times[end - 1]! >= time) end--;
    let start = 0;
    while (start < end && this.#times[start]! < time - this.longest) start++;
    if (start > 0 || end < this.#times.length) this.#keep(start, end);
    if (this.#broken && this.#times.length > 0) {
      const before = this.#times[this.#times.length - 1]!;
      this.#row((before + time) / 2, () => null);
    }
    this.#broken = false;
    this.#row(time, (column) => values[column] ?? null);
  }

  #row(time: number, value: (column: number) => number | null): void {
    this.#times.push(time);
    this.#columns.forEach((column, index) => column.push(value(index)));
  }

  #keep(start: number, end: number): void {
    this.#times = this.#times.slice(start, end);
    this.#columns = this.#columns.map((column) => column.slice(start, end));
  }
}
