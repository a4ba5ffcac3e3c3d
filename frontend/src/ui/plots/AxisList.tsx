// Lists from which an axis, or the time that a plot shows, is chosen.

import { shortNumber, withUnit } from "../../format";
import { type AxisGroup, formulaOf, type PlotSpec, TIME } from "../../plot/axis";
import { useStudio } from "../../studio";
import { t } from "../../words";

interface Props {
  readonly label: string;
  readonly groups: readonly AxisGroup[];
  readonly time?: boolean;
  readonly value: string;
  readonly choose: (axis: string) => void;
  /** Called where the user wants to type a formula; without it formulas are not offered. */
  readonly type?: () => void;
}

const FORMULA = "=";

export function AxisList({ label, groups, time, value, choose, type }: Props) {
  const formula = formulaOf(value);
  const known = formula !== null || value === TIME.value || groups.some((group) => group.options.some((option) => option.value === value));
  return (
    <select
      class="axis-list"
      aria-label={label}
      value={formula === null ? value : FORMULA}
      onChange={(event) => (event.currentTarget.value === FORMULA ? type?.() : choose(event.currentTarget.value))}
    >
      {time && <option value={TIME.value}>{TIME.text}</option>}
      {!known && <option value={value}>{t("{}: not in this structure", value)}</option>}
      {groups.map((group) => (
        <optgroup key={group.label} label={t(group.label)}>
          {group.options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </optgroup>
      ))}
      {type && <option value={FORMULA}>{formula || t("Formula…")}</option>}
    </select>
  );
}

const WINDOWS = [5, 10, 20, 40, 60];

/** How much of the motion a plot shows. */
export function WindowList({ label, spec, change }: { label: string; spec: PlotSpec; change: (spec: PlotSpec) => void }) {
  const unit = useStudio().timeUnit.value;
  const choices = [...new Set([...WINDOWS.map((w) => w * unit), spec.seconds])].filter((seconds) => seconds > 0).sort((a, b) => a - b);
  return (
    <select
      aria-label={label}
      value={String(spec.seconds)}
      onChange={(event) => change({ ...spec, seconds: Number(event.currentTarget.value) })}
    >
      {choices.map((seconds) => (
        <option key={seconds} value={String(seconds)}>
          {t("last {}", withUnit(shortNumber(seconds), "s"))}
        </option>
      ))}
      <option value="0">{t("whole run")}</option>
    </select>
  );
}
