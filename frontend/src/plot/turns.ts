// Which charts draw with a frame: those that have waited longest, so that no frame has to draw them all.

/** How often each chart should be drawn in a second: a plot that scrolls needs no sixty pictures. */
const RATE = 12;

export class Turns {
  /** When each chart was drawn last, in milliseconds. */
  readonly #drawn = new Map<object, number>();
  #due = new Set<object>();
  #sequence = NaN;
  #before = 0;

  join(chart: object): void {
    this.#drawn.set(chart, -Infinity);
  }

  leave(chart: object): void {
    this.#drawn.delete(chart);
    this.#due.delete(chart);
  }

  /** Whether it is a chart's turn in this frame; one that is not asked for in a frame keeps its place. */
  has(chart: object, sequence: number, now: number): boolean {
    if (sequence !== this.#sequence) {
      // One of four is drawn with each frame, so that where there are few frames, plots are drawn less often and these stay short.
      const wanted = Math.round((this.#drawn.size * RATE * (now - this.#before)) / 1000);
      const count = Math.max(1, Math.min(wanted, Math.ceil(this.#drawn.size / 4)));
      const waiting = [...this.#drawn].sort(([, a], [, b]) => a - b);
      this.#due = new Set(waiting.slice(0, count).map(([one]) => one));
      [this.#sequence, this.#before] = [sequence, now];
    }
    return this.#due.has(chart);
  }

  drew(chart: object, now: number): void {
    if (this.#drawn.has(chart)) this.#drawn.set(chart, now);
  }
}
