import { useMemo } from "preact/hooks";
import { shortNumber } from "../../format";
import { Scale } from "../../picture/colourmap";
import type { Surface } from "../../wire";

const STOPS = 33;
/** By what part of the scale values must lie beyond its end for that to be said. */
const BEYOND = 0.02;

/** What the colours of a surface mean. */
export function ColourKey({ surface }: { surface: Surface }) {
  const { low, high, least, most, symbol, label, unit } = surface;
  const colours = useMemo(() => new Scale(low, high).bar(STOPS), [low, high]);
  const slack = BEYOND * (high - low);
  const [first, last] = [shortNumber(low), shortNumber(high)];
  return (
    <div class="key colours" role="img" aria-label={`Colours: ${label} from ${first} to ${last} ${unit}`}>
      <span class="name">
        <i>{symbol}</i>
      </span>
      <span>
        {least < low - slack ? "≤\u202f" : ""}
        {first}
      </span>
      <span class="scale" data-colours={colours.join(";")} style={{ background: `linear-gradient(90deg, ${colours.join(", ")})` }} />
      <span>
        {most > high + slack ? "≥\u202f" : ""}
        {last}
      </span>
    </div>
  );
}
