// The state in numbers.

import { channelColour, energyColour, palette } from "../colours";
import { fixed, scientific, within, withUnit } from "../format";
import { useStudio } from "../studio";
import type { CoordinateView, EnergyView, LabView } from "../wire";
import { t, translated } from "../words";
import { MathSymbol } from "./MathSymbol";
import { Section } from "./Section";

/** Energies as bars from a common zero, motions side by side. */
export function Energies({ view }: { view: LabView }) {
  const frame = useStudio().readout.value;
  if (view.energies.length === 0) return null;
  const groups = [...new Set(view.energies.map((energy) => energy.group))];
  const of = (energy: EnergyView): number => frame?.energy[view.energies.indexOf(energy)] ?? NaN;
  const rows = view.energies.filter((energy) => energy.group === groups[0]);
  const others = (row: EnergyView): (EnergyView | undefined)[] =>
    groups.slice(1).map((group) => view.energies.find((energy) => energy.group === group && energy.label === row.label));
  const largest = Math.max(1e-12, ...view.energies.map((energy) => Math.abs(of(energy))).filter(Number.isFinite));
  return (
    <Section name="energies" title={t("Energy")}>
      <table>
        <thead class={groups.length > 1 ? "" : "unseen"}>
          <tr>
            <th scope="col">
              <span class="unseen">{t("Kind")}</span>
            </th>
            <th scope="col" aria-hidden="true" />
            {groups.map((group) => (
              <th key={group} scope="col">
                {group ? t(group) : t("in joules")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">
                {t(row.label)} <MathSymbol of={row.symbol} />
              </th>
              <td class="bars" aria-hidden="true">
                {[row, ...others(row)].map((energy, i) =>
                  energy ? (
                    <Bar
                      key={i}
                      value={of(energy)}
                      largest={largest}
                      colour={energyColour(palette.value, view, energy.name)!}
                      ghost={i > 0}
                      name={energy.name}
                    />
                  ) : null,
                )}
              </td>
              {[row, ...others(row)].map((energy, i) => (
                <td key={i} class="amount" data-energy={energy?.name}>
                  {energy && frame ? withUnit(amount(of(energy)), "J") : "–"}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

interface BarProps {
  readonly value: number;
  readonly largest: number;
  readonly colour: string;
  readonly ghost: boolean;
  readonly name: string;
}

/** To the right of the middle when positive, to the left when negative. */
function Bar({ value, largest, colour, ghost, name }: BarProps) {
  const part = Number.isFinite(value) ? (50 * Math.abs(value)) / largest : 0;
  const left = value < 0 ? 50 - part : 50;
  return (
    <span class={ghost ? "bar ghost" : "bar"} data-bar={name} data-part={(value < 0 ? -part : part).toFixed(1)}>
      <span style={{ left: `${left}%`, width: `${part}%`, background: colour }} />
    </span>
  );
}

/** Numbers that a lab wants to be seen at a glance: how far two motions are apart, how fast they part. */
export function Meters({ view }: { view: LabView }) {
  const frame = useStudio().readout.value;
  const shown = view.channels.flatMap((channel, i) => (channel.meter !== null || channel.highlight ? [{ channel, i }] : []));
  if (shown.length === 0) return null;
  return (
    <Section name="meters" title={shown.some(({ channel }) => channel.meter !== null) ? t("Chaos") : t("Measured")}>
      {shown.map(({ channel, i }) => {
        const value = frame?.channel[i] ?? NaN;
        return (
          <div key={channel.name} class="meter" data-meter={channel.name}>
            <span>
              {translated(channel.label)} <MathSymbol of={channel.symbol} />
            </span>
            <span class="amount">{Number.isFinite(value) ? withUnit(amount(value), channel.unit) : "–"}</span>
            {channel.meter !== null && (
              <meter min={0} max={channel.meter} value={Number.isFinite(value) ? value : 0} aria-label={translated(channel.label)} />
            )}
          </div>
        );
      })}
    </Section>
  );
}

/** Three decimals, or powers of ten where those would show nothing. */
function amount(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return plainPower(value);
  return fixed(value, size >= 1000 ? 1 : 3);
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function plainPower(value: number): string {
  const { mantissa, exponent } = scientific(value);
  const digits = [...(exponent ?? "")].map((c) => (c === "−" ? "⁻" : RAISED[Number(c)])).join("");
  return `${mantissa}·10${digits}`;
}

export function State({ view }: { view: LabView }) {
  const frame = useStudio().readout.value;
  const value = (coordinate: CoordinateView, i: number): string =>
    frame ? withUnit(fixed(within(frame.q[i] ?? NaN, coordinate.period), 3), coordinate.unit) : "–";
  const rate = (coordinate: CoordinateView, i: number): string =>
    frame ? withUnit(fixed(frame.v[i] ?? NaN, 3), coordinate.rate_unit) : "–";
  const colour = (name: string): string | undefined => {
    const channel = view.channels.findIndex((candidate) => candidate.name === name);
    return channel < 0 ? undefined : channelColour(palette.value, view, channel);
  };
  return (
    <details class="state" open={view.coordinates.length <= 4}>
      <summary>{t("State")}</summary>
      <table>
        <tbody>
          {view.coordinates.map((coordinate, i) => (
            <tr key={coordinate.name}>
              <th scope="row">
                <span class="dot" style={{ background: colour(coordinate.name) ?? "none" }} />
                <MathSymbol of={coordinate.symbol} />
              </th>
              <td>{value(coordinate, i)}</td>
              <th scope="row">
                <MathSymbol of={coordinate.rate_symbol} />
              </th>
              <td>{rate(coordinate, i)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
