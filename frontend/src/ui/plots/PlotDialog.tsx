// One plot over the whole page, with all that can be chosen about it, and as a file.

import { useMemo, useState } from "preact/hooks";
import { asFormula, axisGroups, formulaOf, type PlotSpec } from "../../plot/axis";
import { parse } from "../../plot/expression";
import { language } from "../../preferences";
import { useStudio } from "../../studio";
import type { LabView } from "../../wire";
import { t } from "../../words";
import { Dialog } from "../Dialog";
import { AxisList, WindowList } from "./AxisList";
import { curvesOf } from "./curves";
import { FormulaField } from "./FormulaField";
import { savePlot } from "./files";
import { useChart } from "./useChart";
import { description } from "./words";

const NUMBERS = 15;

interface Props {
  readonly place: number;
  readonly view: LabView;
  readonly spec: PlotSpec;
  readonly change: (spec: PlotSpec) => void;
  readonly close: () => void;
}

export function PlotDialog({ place, view, spec, change, close }: Props) {
  const studio = useStudio();
  const groups = useMemo(() => axisGroups(view), [view, language.value]);
  const shown = useMemo(
    () => curvesOf(view, spec, studio.history, studio.timeUnit.value),
    [view, JSON.stringify(spec), studio.timeUnit.value],
  );
  const { root, chart } = useChart(view, shown, NUMBERS);
  const words = description(view, spec);
  const axis = (name: "x" | "y", label: string) => {
    const formula = formulaOf(spec[name]);
    return (
      <div class="plot-choice">
        <span aria-hidden="true">{label}</span>
        <AxisList
          label={t("{} axis, enlarged", label)}
          groups={groups}
          time={name === "x"}
          value={spec[name]}
          choose={(value) => change({ ...spec, [name]: value })}
          type={() => change({ ...spec, [name]: asFormula(view, spec[name]) })}
        />
        {formula !== null && (
          <FormulaField
            label={t("{} formula", label)}
            view={view}
            formula={formula}
            set={(text) => change({ ...spec, [name]: `=${text}` })}
          />
        )}
      </div>
    );
  };
  const single = groups.map((group) => ({
    ...group,
    options: group.options.filter((option) => !/^(all|next|first):?/.test(option.value)),
  }));
  return (
    <Dialog title={t("Plot {}", place)} wide close={close}>
      <div class={spec.x === "t" && !spec.section ? "canvas large" : "canvas large square"} ref={root} role="img" aria-label={words} />
      <div class="plot-choices">
        {axis("y", t("Vertical"))}
        {axis("x", t("Horizontal"))}
        <div class="plot-choice">
          <span aria-hidden="true">{t("Shows")}</span>
          <WindowList label={t("Seconds shown in plot {}, enlarged", place)} spec={spec} change={change} />
        </div>
        <SectionChoice spec={spec} change={change} groups={single} first={view.channels.find((channel) => channel.period)?.name ?? "t"} />
      </div>
      <div class="row">
        {(["png", "svg", "csv"] as const).map((kind) => (
          <button
            key={kind}
            type="button"
            class="plain"
            onClick={() => void savePlot(kind, chart.current!, studio, spec).catch((error) => studio.say(String(error)))}
          >
            {t("Save {}", kind.toUpperCase())}
          </button>
        ))}
      </div>
    </Dialog>
  );
}

interface SectionProps {
  readonly spec: PlotSpec;
  readonly change: (spec: PlotSpec) => void;
  readonly groups: ReturnType<typeof axisGroups>;
  /** What a new section watches. */
  readonly first: string;
}

/** Whether only the points of a Poincaré section are shown, and of which one. */
function SectionChoice({ spec, change, groups, first }: SectionProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const { section, ...plain } = spec;
  const value = typed === null ? null : numberIn(typed);
  const take = (): void => {
    if (typed === null || !section || value === null) return;
    setTyped(null);
    change({ ...spec, section: { ...section, at: value } });
  };
  return (
    <div class="plot-choice">
      <label>
        <input
          type="checkbox"
          checked={section !== undefined}
          onChange={(event) => change(event.currentTarget.checked ? { ...spec, section: { of: first, at: 0 } } : plain)}
        />{" "}
        {t("Poincaré section")}
      </label>
      {section && (
        <span>
          {t("where")}{" "}
          <AxisList
            label={t("Variable of the section")}
            groups={groups}
            value={section.of}
            choose={(of) => change({ ...spec, section: { ...section, of } })}
          />{" "}
          {t("passes upwards through")}{" "}
          <input
            type="text"
            class="at"
            aria-label={t("Value of the section")}
            aria-invalid={typed !== null && value === null}
            value={typed ?? String(section.at)}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Enter" && take()}
            onBlur={take}
          />
        </span>
      )}
    </div>
  );
}

/** A number as one types it: 2,5 and pi/2 too; null where it is none. */
function numberIn(text: string): number | null {
  try {
    const value = parse(text.replace(",", "."), new Set()).value([]);
    return Number.isFinite(value) ? value : null;
  } catch {
    return null;
  }
}
