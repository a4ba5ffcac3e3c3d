import { useMemo } from "preact/hooks";
import { shortNumber, withUnit } from "../../format";
import { Scale } from "../../picture/colourmap";
import type { Field, Surface } from "../../wire";
import { t } from "../../words";

const STOPS = 33;
/** By what part of the scale values must lie beyond its end for that to be said. */
const BEYOND = 0.02;

/** What the colours of a surface or a field mean. */
export function ColourKey({ of }: { of: Surface | Field }) {
  const { low, high, symbol, label, unit, signed } = of;
  const [least, most] = of.type === "surface" ? [of.least, of.most] : [low, high];
  const scale = useMemo(() => new Scale(low, high, signed), [low, high, signed]);
  const colours = useMemo(() => scale.bar(STOPS), [scale]);
  const slack = BEYOND * (high - low);
  const [first, last] = [shortNumber(low), withUnit(shortNumber(high), unit)];
  return (
    <div class="key colours" role="img" aria-label={t("Colours: {} from {} to {}", t(label), first, last)}>
      <span class="name">
        <i>{symbol}</i>
      </span>
      <span>
        {least < low - slack ? "≤\u202f" : ""}
        {first}
      </span>
      <span class="scale" data-colours={colours.join(";")} style={{ background: `linear-gradient(90deg, ${colours.join(", ")})` }}>
        {scale.zero !== null && (
          <span class="zero" style={{ left: `${100 * scale.zero}%` }}>
            0
          </span>
        )}
      </span>
      <span>
        {most > high + slack ? "≥\u202f" : ""}
        {last}
      </span>
    </div>
  );
}
