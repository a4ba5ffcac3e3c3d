// Colours of numbers: even steps of a number look like even steps of lightness (in the coordinates of OKLab).

import { LIGHT } from "../palette";

export type Colour = readonly [number, number, number];

/** A stop of a map: lightness 0 to 1, chroma, hue in degrees. */
type Stop = readonly [lightness: number, chroma: number, hue: number];

/** From dark violet to light yellow; readable in grey. */
const SEQUENTIAL: readonly Stop[] = [
  [0.4, 0.14, 290],
  [0.51, 0.12, 262],
  [0.62, 0.1, 215],
  [0.73, 0.12, 165],
  [0.84, 0.15, 125],
  [0.95, 0.13, 103],
];
/** Blue below zero, vermillion above, nearly white at zero. */
const DIVERGING: readonly Stop[] = [
  [0.42, 0.14, 255],
  [0.7, 0.1, 250],
  [0.96, 0.005, 90],
  [0.72, 0.13, 55],
  [0.5, 0.17, 35],
];

const LEVELS = 256;

/** Of lines on a coloured surface, by day and by night: the surface itself is light. */
export const LINE = LIGHT.ink;

/**
 * What numbers are painted in. `low` and `high` are the ends of the scale; a scale on both sides of zero has its middle
 * there. A signed one has a scale for each side by itself, so that a small side is seen beside a large one.
 */
export class Scale {
  readonly diverging: boolean;
  readonly #table: readonly Colour[];
  /** The values at the low end, in the middle and at the high end of the table. */
  readonly #stops: readonly [number, number, number];

  constructor(
    readonly low: number,
    readonly high: number,
    readonly signed = false,
  ) {
    this.diverging = signed || (low < 0 && high > 0);
    const most = Math.max(-low, high);
    if (signed) this.#stops = [low < 0 ? low : -most, 0, high > 0 ? high : most];
    else this.#stops = this.diverging ? [-most, 0, most] : [low, (low + high) / 2, high > low ? high : low + 1];
    this.#table = tabulate(this.diverging ? DIVERGING : SEQUENTIAL);
  }

  colour(value: number): Colour {
    const [low, middle, high] = this.#stops;
    const part = value < middle ? (value - low) / (middle - low) / 2 : 0.5 + (value - middle) / (high - middle) / 2;
    return this.#table[Math.min(LEVELS - 1, Math.max(0, Math.round(part * (LEVELS - 1))))]!;
  }

  /** Where zero stands on the bar, from 0 to 1; null where it is not on it. */
  get zero(): number | null {
    if (!(this.low < 0 && this.high > 0)) return null;
    return this.signed ? 0.5 : -this.low / (this.high - this.low);
  }

  /** The value at a part of the bar: from the low end to the high one, each side of zero evenly. */
  value(part: number): number {
    if (!this.signed || this.zero === null) return this.low + (this.high - this.low) * part;
    return part < 0.5 ? this.low * (1 - 2 * part) : this.high * (2 * part - 1);
  }

  /** Colours from the low end to the high one, for a bar. */
  bar(count: number): string[] {
    return Array.from({ length: count }, (_, i) => css(this.colour(this.value(i / (count - 1)))));
  }
}

export function css([r, g, b]: Colour): string {
  return `rgb(${r}, ${g}, ${b})`;
}

function tabulate(stops: readonly Stop[]): Colour[] {
  return Array.from({ length: LEVELS }, (_, i) => {
    const at = (i / (LEVELS - 1)) * (stops.length - 1);
    const k = Math.min(stops.length - 2, Math.floor(at));
    const [p, q, u] = [lab(stops[k]!), lab(stops[k + 1]!), at - k];
    return rgb(p[0] + u * (q[0] - p[0]), p[1] + u * (q[1] - p[1]), p[2] + u * (q[2] - p[2]));
  });
}

function lab([lightness, chroma, hue]: Stop): Colour {
  const angle = (hue * Math.PI) / 180;
  return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
}

/** From OKLab to the screen's red, green and blue, 0 to 255; what no screen shows is cut off. */
function rgb(l: number, a: number, b: number): Colour {
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    encoded(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
    encoded(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
    encoded(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short),
  ];
}

function encoded(linear: number): number {
  const inside = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (inside <= 0.0031308 ? 12.92 * inside : 1.055 * inside ** (1 / 2.4) - 0.055));
}
