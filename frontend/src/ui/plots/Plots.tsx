// Plots under the picture. The name of each axis is a list from which any other variable can be taken.

import { useId, useMemo, useState } from "preact/hooks";
import { palette, variableColour } from "../../colours";
import { asFormula, axisGroups, axisTitle, type PlotSpec, pairs } from "../../plot/axis";
import { variablesOf } from "../../plot/variable";
import { language } from "../../preferences";
import { useStudio } from "../../studio";
import type { LabView } from "../../wire";
import { t, translated } from "../../words";
import { Icon } from "../Icon";
import { MathSymbol } from "../MathSymbol";
import { AxisList, WindowList } from "./AxisList";
import { curvesOf } from "./curves";
import { PlotDialog } from "./PlotDialog";
import { useChart } from "./useChart";
import { description } from "./words";

/** More curves than this are told apart by the colours of the picture alone. */
const LEGEND = 6;
/** More than this have a line of their own. */
const BESIDE = 2;
/** And so do names that have, together with that of the axis, more letters than this: they would be cut off. */
const SHORT = 12;
/** Seconds that a new plot shows. */
const WINDOW = 20;

export function Plots() {
  const studio = useStudio();
  const view = studio.lab.value;
  const specs = studio.plots.value;
  const [enlarged, enlarge] = useState<number | null>(null);
  if (!view) return null;
  const change = (next: readonly PlotSpec[]): void => studio.arrange({ plots: next });
  const replace = (spec: PlotSpec, next: PlotSpec): void => change(specs.map((old) => (old === spec ? next : old)));
  const fresh = (): PlotSpec => ({
    id: 1 + Math.max(-1, ...specs.map((spec) => spec.id)),
    x: "t",
    y: view.channels[0]?.name ?? "t",
    seconds: WINDOW * studio.timeUnit.value,
  });
  const place = specs.findIndex((spec) => spec.id === enlarged);
  return (
    <section class="plots" aria-label={t("Plots")} data-count={specs.length}>
      {specs.map((spec, i) => (
        <Plot
          key={spec.id}
          place={i + 1}
          view={view}
          spec={spec}
          change={(next) => replace(spec, next)}
          close={() => change(specs.filter((old) => old !== spec))}
          enlarge={() => enlarge(spec.id)}
        />
      ))}
      <button type="button" class="add" aria-label={t("Add a plot")} title={t("Add a plot")} onClick={() => change([...specs, fresh()])}>
        <Icon name="plus" />
      </button>
      {place >= 0 && (
        <PlotDialog
          place={place + 1}
          view={view}
          spec={specs[place]!}
          change={(next) => replace(specs[place]!, next)}
          close={() => enlarge(null)}
        />
      )}
    </section>
  );
}

interface Props {
  readonly place: number;
  readonly view: LabView;
  readonly spec: PlotSpec;
  readonly change: (spec: PlotSpec) => void;
  readonly close: () => void;
  readonly enlarge: () => void;
}

function Plot({ place, view, spec, change, close, enlarge }: Props) {
  const studio = useStudio();
  const title = useId();
  const groups = useMemo(() => axisGroups(view), [view, language.value]);
  const chart = useMemo(
    () => curvesOf(view, spec, studio.history, studio.timeUnit.value),
    [view, JSON.stringify(spec), studio.timeUnit.value],
  );
  const { root } = useChart(view, chart);
  const phase = spec.x !== "t" || spec.section;
  return (
    <figure class={phase ? "plot phase" : "plot"} aria-labelledby={title}>
      <figcaption>
        <AxisList
          label={t("Vertical axis of plot {}", place)}
          groups={groups}
          value={spec.y}
          choose={(y) => change({ ...spec, y })}
          type={() => {
            change({ ...spec, y: asFormula(view, spec.y) });
            enlarge();
          }}
        />
        <Legend view={view} spec={spec} />
        <button type="button" class="enlarge" aria-label={t("Enlarge plot {}", place)} title={t("Enlarge this plot")} onClick={enlarge}>
          <Icon name="enlarge" />
        </button>
        <button type="button" class="close" aria-label={t("Close plot {}", place)} title={t("Close this plot")} onClick={close}>
          <Icon name="close" />
        </button>
      </figcaption>
      {/* The button above does the same for those without a pointer. */}
      <div class="canvas" ref={root} role="img" id={title} aria-label={description(view, spec)} onClick={enlarge} />
      <div class="foot">
        <WindowList label={t("Seconds shown in plot {}", place)} spec={spec} change={change} />
        <AxisList
          label={t("Horizontal axis of plot {}", place)}
          groups={groups}
          time
          value={spec.x}
          choose={(x) => change({ ...spec, x })}
          type={() => {
            change({ ...spec, x: asFormula(view, spec.x) });
            enlarge();
          }}
        />
      </div>
    </figure>
  );
}

/** Which curve has which colour, where there are several and few. */
function Legend({ view, spec }: { view: LabView; spec: PlotSpec }) {
  const shown = [...new Set(pairs(view, spec).flatMap((pair) => (typeof pair.y === "number" ? [pair.y] : [])))].slice(0, LEGEND + 1);
  if (shown.length <= 1 || shown.length > LEGEND) return null;
  const variables = variablesOf(view);
  const letters = shown.reduce((sum, i) => sum + variables[i]!.symbol.length, axisTitle(view, spec.y).length);
  return (
    <span class={shown.length > BESIDE || letters > SHORT ? "legend below" : "legend"} aria-hidden="true">
      {shown.map((i) => (
        <span key={i} title={translated(variables[i]!.label)}>
          <span class="swatch" style={{ background: variableColour(palette.value, view, i) }} />
          <MathSymbol of={variables[i]!.symbol} />
        </span>
      ))}
    </span>
  );
}
