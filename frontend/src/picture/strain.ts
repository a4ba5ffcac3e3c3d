// Stretch as colour and width: white at rest, red and thinner when stretched, blue and thicker when compressed.

/** The stretch at which colour and width are about three quarters of the way to their ends. */
export const FULL = 0.15;

const REST = [255, 255, 255] as const;
const STRETCHED = [205, 20, 30] as const;
const COMPRESSED = [0, 92, 190] as const;

/** From −1, squeezed as far as can be shown, over 0 to 1. */
export function shown(strain: number): number {
  return Number.isFinite(strain) ? Math.tanh(strain / FULL) : 0;
}

export function strainColour(strain: number): string {
  const amount = shown(strain);
  const end = amount < 0 ? COMPRESSED : STRETCHED;
  const mixed = REST.map((rest, i) => Math.round(rest + Math.abs(amount) * (end[i]! - rest)));
  return `rgb(${mixed.join(", ")})`;
}

/** As a factor on the width at rest. */
export function strainWidth(strain: number): number {
  return 1 - 0.5 * shown(strain);
}
