// Places of a slider and the numbers that they stand for.

export interface Scale {
  readonly low: number;
  readonly high: number;
  readonly step: number;
  readonly integer: boolean;
  readonly logarithmic: boolean;
}

const LOGARITHMIC_STEPS = 200;
const DIGITS = 3;

/** How many steps a slider has. */
export function sliderSteps(scale: Scale): number {
  if (scale.logarithmic) return LOGARITHMIC_STEPS;
  return Math.max(1, Math.round((scale.high - scale.low) / (scale.integer ? 1 : scale.step)));
}

/** Where the slider stands for a number; at its end for what lies beyond. */
export function toSlider(scale: Scale, value: number): number {
  const part = scale.logarithmic
    ? Math.log(Math.max(value, Number.MIN_VALUE) / scale.low) / Math.log(scale.high / scale.low)
    : (value - scale.low) / (scale.high - scale.low);
  const steps = sliderSteps(scale);
  return Math.min(steps, Math.max(0, Math.round(part * steps)));
}

/** The number that a place stands for, as short as its step allows: 0.3, not 0.30000000000000004. */
export function fromSlider(scale: Scale, place: number): number {
  const steps = sliderSteps(scale);
  if (place <= 0) return scale.low;
  if (place >= steps) return scale.high;
  if (scale.logarithmic) return Number((scale.low * (scale.high / scale.low) ** (place / steps)).toPrecision(DIGITS));
  const value = scale.low + (place * (scale.high - scale.low)) / steps;
  return scale.integer ? Math.round(value) : Number(value.toPrecision(12));
}
