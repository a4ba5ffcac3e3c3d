import { fixed } from "../../format";
import { ticks, toPixels, type View } from "../../picture/view";

/** Room for the numbers of the other axis, in pixels. */
const MARGIN = 34;
/** Room for the axis' own name at its end. */
const NAME = 64;

/** Numbers along the lower and the left edge of a picture of a plane. */
export function Axes({ view }: { view: View }) {
  const { x, y, decimals } = ticks(view);
  return (
    <div class="axes" aria-hidden="true">
      {x.map((metre) => {
        const [left] = toPixels(view, metre, 0);
        return left > MARGIN && left < view.width - NAME ? (
          <span key={`x${metre}`} class="tick across" style={{ left: `${left}px` }}>
            {fixed(metre, decimals)}
          </span>
        ) : null;
      })}
      {y.map((metre) => {
        const [, top] = toPixels(view, 0, metre);
        return top > MARGIN && top < view.height - MARGIN ? (
          <span key={`y${metre}`} class="tick up" style={{ top: `${top}px` }}>
            {fixed(metre, decimals)}
          </span>
        ) : null;
      })}
      <span class="axis across">
        <i>x</i> / m
      </span>
      <span class="axis up">
        <i>y</i> / m
      </span>
    </div>
  );
}
