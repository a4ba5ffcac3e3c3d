// The state in numbers, and how far it can be trusted.

import { palette } from "../colours";
import { fixed, scientific, within, withUnit } from "../format";
import { controls, readout } from "../store";
import { FrameFlag, type LabView } from "../wire";
import { Symbol } from "./Symbol";

export function State({ view }: { view: LabView }) {
  const frame = readout.value;
  return (
    <section class="state" aria-labelledby="state-title">
      <h2 id="state-title">State</h2>
      <p class="time">
        <Symbol of="t" /> <span data-readout="time">{frame ? withUnit(fixed(frame.time, 3), "s") : "–"}</span>
      </p>
      <table>
        <tbody>
          {view.coordinates.map((coordinate, i) => (
            <tr key={coordinate.name}>
              <th scope="row"><Symbol of={coordinate.symbol} /></th>
              <td>{frame ? withUnit(fixed(within(frame.q[i] ?? NaN, coordinate.period), 3), coordinate.unit) : "–"}</td>
              <th scope="row"><Symbol of={coordinate.rate_symbol} /></th>
              <td>{frame ? withUnit(fixed(frame.v[i] ?? NaN, 3), coordinate.rate_unit) : "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Energies as a legend to the plot above it, in the same colours. */
export function Energies({ view }: { view: LabView }) {
  const frame = readout.value;
  return (
    <ul class="legend" aria-label="Energies">
      {view.energies.map((energy, i) => (
        <li key={energy.name}>
          <span class="swatch" style={{ background: palette.value.energies[i] }} aria-hidden="true" />
          {energy.label} <Symbol of={energy.symbol} />
          <span class="number" data-energy={energy.name}>{frame ? withUnit(fixed(frame.energy[i] ?? NaN, 3), "J") : "–"}</span>
        </li>
      ))}
    </ul>
  );
}

export function Certificate({ view }: { view: LabView }) {
  const frame = readout.value;
  const behind = frame !== null && (frame.flags & FrameFlag.BEHIND) !== 0;
  return (
    <section class="certificate" aria-labelledby="certificate-title">
      <h2 id="certificate-title">Certificate</h2>
      <dl>
        <dt>Method</dt>
        <dd>{view.method}</dd>
        <dt>Step</dt>
        <dd>{withUnit(fixed(1000 * view.dt, 3), "ms")}</dd>
        <dt>Energy drift</dt>
        <dd data-readout="drift">{frame ? <Scientific of={frame.drift} unit="J" /> : "–"}</dd>
        <dt>Clock</dt>
        <dd class={behind ? "warning" : ""} data-readout="clock">{frame ? clock(frame.rate, behind) : "–"}</dd>
      </dl>
    </section>
  );
}

function clock(rate: number, behind: boolean): string {
  if (!controls.value?.playing) return "held";
  return behind ? `behind: runs at ${fixed(rate, 2)}×` : "in time";
}

/** In powers of ten: 1.2·10⁻¹³. */
function Scientific({ of: value, unit }: { of: number; unit: string }) {
  const { mantissa, exponent } = scientific(value);
  return (
    <>
      {exponent === null ? mantissa : <>{mantissa}·10<sup>{exponent}</sup></>}
      {withUnit("", unit)}
    </>
  );
}
