import { symbolParts } from "../format";

/** A variable as print has it: letter in italics, index upright and lowered. */
export function MathSymbol({ of }: { of: string }) {
  const { letter, index, prime } = symbolParts(of);
  return (
    <span class="symbol">
      <i>{letter}</i>
      {index && <sub>{index}</sub>}
      {prime}
    </span>
  );
}
