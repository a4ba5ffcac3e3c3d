import { FULL, strainColour } from "../../picture/strain";
import { t } from "../../words";

const STOPS = [-2, -1, -0.5, 0, 0.5, 1, 2];

/** What the colours of the springs mean. */
export function StrainKey() {
  const percent = Math.round(100 * 2 * FULL);
  const colours = STOPS.map((stop) => strainColour(stop * FULL));
  return (
    <div
      class="key"
      role="img"
      aria-label={t("Springs: blue and thick when compressed, white at rest, red and thin when stretched by {} per cent", percent)}
    >
      <span>
        −{percent}
        {"\u202f"}%
      </span>
      <span class="scale" data-colours={colours.join(";")} style={{ background: `linear-gradient(90deg, ${colours.join(", ")})` }} />
      <span>
        +{percent}
        {"\u202f"}%
      </span>
      <span class="name">
        {t("strain")} <i>ε</i>
      </span>
    </div>
  );
}
