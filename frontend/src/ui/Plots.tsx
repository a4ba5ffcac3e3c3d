// Plots under the picture. The name of each axis is a list from which any other variable can be taken.

import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import { channelColour, palette } from "../colours";
import { shortNumber, withUnit } from "../format";
import { type AxisGroup, axisGroups, type Pair, type PlotSpec, pairs, specOf, TIME } from "../plot/axis";
import { Chart } from "../plot/chart";
import type { Curve, Variable } from "../plot/curve";
import { useStudio } from "../studio";
import type { LabView } from "../wire";
import { Icon } from "./Icon";
import { MathSymbol } from "./MathSymbol";

/** Milliseconds between two drawings at best: a plot that scrolls needs no sixty pictures a second. */
const DRAW_EVERY = 1000 / 30;
/** Drawing may take this part of the time; a slow machine draws its plots less often and its picture as before. */
const SHARE = 0.2;
const WINDOWS = [5, 10, 20, 40, 60];
/** More curves than this are told apart by the colours of the picture alone. */
const LEGEND = 6;
/** More than this have a line of their own. */
const BESIDE = 2;
/** And so do names of more letters than this, all together. */
const SHORT = 9;

export function Plots() {
  const studio = useStudio();
  const view = studio.lab.value;
  if (!view) return null;
  const specs = studio.plots.value ?? view.plots.map((plot, i) => specOf(view, plot, i));
  const change = (next: readonly PlotSpec[]): void => {
    studio.plots.value = next;
  };
  const fresh = (): PlotSpec => ({
    id: 1 + Math.max(-1, ...specs.map((spec) => spec.id)),
    x: "t",
    y: view.channels[0]?.name ?? "t",
    seconds: 20 * studio.timeUnit.value,
  });
  return (
    <section class="plots" aria-label="Plots" data-count={specs.length}>
      {specs.map((spec, place) => (
        <Plot
          key={spec.id}
          place={place + 1}
          view={view}
          spec={spec}
          change={(next) => change(specs.map((old) => (old === spec ? next : old)))}
          close={() => change(specs.filter((old) => old !== spec))}
        />
      ))}
      <button type="button" class="add" aria-label="Add a plot" title="Add a plot" onClick={() => change([...specs, fresh()])}>
        <Icon name="plus" />
      </button>
    </section>
  );
}

interface Props {
  readonly place: number;
  readonly view: LabView;
  readonly spec: PlotSpec;
  readonly change: (spec: PlotSpec) => void;
  readonly close: () => void;
}

function Plot({ place, view, spec, change, close }: Props) {
  const studio = useStudio();
  const title = useId();
  const groups = useMemo(() => axisGroups(view), [view]);
  const shown = useMemo(() => pairs(view, spec), [view, spec]);

  const root = useChart(view, shown, spec.seconds);

  const legend = [...new Set(shown.map((pair) => pair.y))].slice(0, LEGEND + 1);
  const letters = legend.reduce((sum, i) => sum + view.channels[i]!.symbol.length, 0);
  return (
    <figure class="plot" aria-labelledby={title}>
      <figcaption>
        <AxisList label={`Vertical axis of plot ${place}`} groups={groups} value={spec.y} choose={(y) => change({ ...spec, y })} />
        {legend.length > 1 && legend.length <= LEGEND && (
          <span class={legend.length > BESIDE || letters > SHORT ? "legend below" : "legend"} aria-hidden="true">
            {legend.map((i) => (
              <span key={i}>
                <span class="swatch" style={{ background: channelColour(palette.value, view, i) }} />
                <MathSymbol of={view.channels[i]!.symbol} />
              </span>
            ))}
          </span>
        )}
        <button type="button" class="close" aria-label={`Close plot ${place}`} title="Close this plot" onClick={close}>
          <Icon name="close" />
        </button>
      </figcaption>
      <div class="canvas" ref={root} role="img" id={title} aria-label={description(view, spec, groups)} />
      <div class="foot">
        <select
          aria-label={`Seconds shown in plot ${place}`}
          value={String(spec.seconds)}
          onChange={(event) => change({ ...spec, seconds: Number(event.currentTarget.value) })}
        >
          {[...new Set([...WINDOWS.map((w) => w * studio.timeUnit.value), spec.seconds])]
            .sort((a, b) => a - b)
            .map((seconds) => (
              <option key={seconds} value={String(seconds)}>
                last {withUnit(shortNumber(seconds), "s")}
              </option>
            ))}
        </select>
        <AxisList label={`Horizontal axis of plot ${place}`} groups={groups} time value={spec.x} choose={(x) => change({ ...spec, x })} />
      </div>
    </figure>
  );
}

/** Keeps a chart of these curves in the element that the result is put on. */
function useChart(view: LabView, shown: readonly Pair[], seconds: number): RefObject<HTMLDivElement> {
  const studio = useStudio();
  const root = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart | null>(null);

  useEffect(() => {
    const place = root.current!;
    const drawn = (chart.current = new Chart(place, studio.history, palette.value));
    const watcher = new ResizeObserver(() => drawn.resize());
    watcher.observe(place);
    let next = 0;
    let later: ReturnType<typeof setTimeout> | undefined;
    const draw = (time: number): void => {
      const before = performance.now();
      drawn.draw(time);
      place.dataset.rows = String(drawn.rows);
      const now = performance.now();
      next = now + Math.max(DRAW_EVERY, (now - before) / SHARE);
    };
    const stop = studio.onFrame((frame) => {
      clearTimeout(later);
      const wait = next - performance.now();
      if (wait <= 0) draw(frame.time);
      else later = setTimeout(() => draw(frame.time), wait);
    });
    return () => {
      stop();
      clearTimeout(later);
      watcher.disconnect();
      drawn.dispose();
    };
  }, []);

  useEffect(() => effect(() => chart.current?.show({ curves: curvesOf(view, shown), seconds }, palette.value)), [view, shown, seconds]);
  return root;
}

interface AxisProps {
  readonly label: string;
  readonly groups: readonly AxisGroup[];
  readonly time?: boolean;
  readonly value: string;
  readonly choose: (axis: string) => void;
}

function AxisList({ label, groups, time, value, choose }: AxisProps) {
  return (
    <select class="axis-list" aria-label={label} value={value} onChange={(event) => choose(event.currentTarget.value)}>
      {time && <option value={TIME.value}>{TIME.text}</option>}
      {groups.map((group) => (
        <optgroup key={group.label} label={group.label}>
          {group.options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}

function curvesOf(view: LabView, shown: readonly Pair[]): Curve[] {
  const variable = (column: number | "t"): Variable => {
    const channel = column === "t" ? undefined : view.channels[column];
    return { column, period: channel?.period ?? null, logarithmic: channel?.logarithmic ?? false };
  };
  return shown.map((pair) => ({
    x: variable(pair.x),
    y: variable(pair.y),
    colour: channelColour(palette.value, view, pair.y),
    ghost: view.channels[pair.y]?.ghost ?? false,
  }));
}

function description(view: LabView, spec: PlotSpec, groups: readonly AxisGroup[]): string {
  const text = (axis: string): string => {
    if (axis === "t") return "time";
    const channel = view.channels.find((candidate) => candidate.name === axis);
    return channel
      ? channel.label
      : (groups.flatMap((g) => g.options.map((o) => ({ ...o, group: g.label }))).find((o) => o.value === axis)?.group ?? axis);
  };
  return `${text(spec.y)} against ${text(spec.x)}, the last ${spec.seconds} seconds`;
}
