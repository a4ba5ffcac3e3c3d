// Rows of a motion in the order of time, as Python wrote them.

/** Numbers of one row: those of the table, exact, and those of the places, which are for the eye. */
export interface Widths {
  readonly table: number;
  readonly places: number;
}

/** A row of the table is a time and the channels; a row of the places is the coordinates of all points. */
export class Tape {
  #table = new Float64Array(0);
  #places = new Float32Array(0);
  #rows = 0;

  constructor(private readonly widths: Widths) {}

  get length(): number {
    return this.#rows;
  }

  time(row: number): number {
    return this.#table[row * this.widths.table] ?? NaN;
  }

  /** The channels of a row. */
  channels(row: number): Float64Array {
    const start = row * this.widths.table;
    return this.#table.subarray(start + 1, start + this.widths.table);
  }

  places(row: number): Float32Array {
    return this.#places.subarray(row * this.widths.places, (row + 1) * this.widths.places);
  }

  /** The last row at `time` or before it; the first one for times before all. */
  at(time: number): number {
    let [low, high] = [0, this.#rows];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time(middle) <= time) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** The row whose time is nearest. */
  nearest(time: number): number {
    const row = this.at(time);
    return row + 1 < this.#rows && this.time(row + 1) - time < time - this.time(row) ? row + 1 : row;
  }

  /** Add rows: the table as little-endian doubles, then the places as single ones. Throws when the length does not fit. */
  append(rows: number, data: ArrayBuffer): void {
    const { table, places } = this.widths;
    if (data.byteLength !== rows * (8 * table + 4 * places)) {
      throw new RangeError(`${rows} rows have ${rows * (8 * table + 4 * places)} bytes, but ${data.byteLength} came.`);
    }
    const view = new DataView(data);
    this.#table = grown(this.#table, (this.#rows + rows) * table);
    this.#places = grown(this.#places, (this.#rows + rows) * places);
    for (let i = 0; i < rows * table; i++) this.#table[this.#rows * table + i] = view.getFloat64(8 * i, true);
    const start = 8 * rows * table;
    for (let i = 0; i < rows * places; i++) this.#places[this.#rows * places + i] = view.getFloat32(start + 4 * i, true);
    this.#rows += rows;
  }

  /** Forget all rows but the first ones. */
  cut(rows: number): void {
    this.#rows = Math.min(this.#rows, rows);
  }
}

/** The same numbers in an array that holds `size` of them and, to be made anew seldom, some more. */
function grown<Numbers extends Float64Array<ArrayBuffer> | Float32Array<ArrayBuffer>>(numbers: Numbers, size: number): Numbers {
  if (size <= numbers.length) return numbers;
  const larger = new (numbers.constructor as new (length: number) => Numbers)(Math.max(size, Math.ceil(1.5 * numbers.length)));
  larger.set(numbers);
  return larger;
}
