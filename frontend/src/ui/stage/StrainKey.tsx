import { FULL, strainColour } from "../../picture/strain";

const STOPS = [-2, -1, -0.5, 0, 0.5, 1, 2];

/** What the colours of the springs mean. */
export function StrainKey() {
  const percent = Math.round(100 * 2 * FULL);
  const colours = STOPS.map((stop) => strainColour(stop * FULL));
  return (
    <div
      class="key"
      role="img"
      aria-label={`Springs: blue and thick when compressed, white at rest, red and thin when stretched by ${percent} per cent`}
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
        strain <i>ε</i>
      </span>
    </div>
  );
}
