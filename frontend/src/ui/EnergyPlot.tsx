// Energies over the last seconds.

import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { palette } from "../colours";
import { fixed } from "../format";
import { energies, onFrame, WINDOW } from "../store";
import type { LabView } from "../wire";
import { Energies } from "./Readouts";

/** Milliseconds between two drawings: a plot that scrolls needs no sixty pictures a second. */
const DRAW_EVERY = 1000 / 30;
const FONT = '13px "Source Serif 4", Georgia, serif';

export function EnergyPlot({ view }: { view: LabView }) {
  const place = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const root = place.current!;
    let plot: uPlot | null = null;
    const build = (): void => {
      plot?.destroy();
      plot = new uPlot(options(view, root), energies.data as uPlot.AlignedData, root);
    };
    const stopBuilding = effect(() => {
      void palette.value;
      build();
    });
    const watcher = new ResizeObserver(() => plot?.setSize(size(root)));
    watcher.observe(root);
    let last = 0;
    let later: ReturnType<typeof setTimeout> | undefined;
    const draw = (): void => {
      last = performance.now();
      plot?.setData(energies.data as uPlot.AlignedData);
      root.dataset["rows"] = String(energies.length);
    };
    const stopDrawing = onFrame(() => {
      clearTimeout(later);
      const wait = last + DRAW_EVERY - performance.now();
      if (wait <= 0) draw();
      else later = setTimeout(draw, wait);
    });
    return () => {
      stopDrawing();
      clearTimeout(later);
      watcher.disconnect();
      stopBuilding();
      plot?.destroy();
    };
  }, []);

  return (
    <section class="plot" aria-labelledby="energy-title">
      <header>
        <h2 id="energy-title">Energy</h2>
        <Energies view={view} />
      </header>
      <div class="canvas" ref={place} role="img" aria-label={`Energies over the last ${WINDOW} seconds: ${view.energies.map((e) => e.label.toLowerCase()).join(", ")}`} />
    </section>
  );
}

function size(root: HTMLElement): { width: number; height: number } {
  return { width: Math.max(120, root.clientWidth), height: Math.max(80, root.clientHeight) };
}

function options(view: LabView, root: HTMLElement): uPlot.Options {
  const colours = palette.value;
  const axis = {
    stroke: colours.faint,
    font: FONT,
    labelFont: FONT,
    labelSize: 18,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { stroke: colours.grid, width: 1, size: 4 },
  };
  return {
    ...size(root),
    pxAlign: false,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, range: timeRange }, y: { range: energyRange } },
    axes: [
      { ...axis, label: "time t / s", size: 26, values: (_, splits) => splits.map((s) => fixed(s, 0)), incrs: [1, 2, 5, 10] },
      { ...axis, label: "energy / J", size: 46, values: (_, splits, __, ___, step) => splits.map((s) => fixed(s, step < 1 ? 1 : 0)) },
    ],
    series: [
      {},
      ...view.energies.map((energy, i) => ({
        label: energy.label,
        stroke: colours.energies[i] ?? colours.ink,
        width: 2,
        points: { show: false },
        spanGaps: false,
      })),
    ],
  };
}

/** The last seconds, and before there are as many, the first ones. */
function timeRange(_: uPlot, low: number | null, high: number | null): [number, number] {
  const end = Math.max(high ?? 0, (low ?? 0) + WINDOW);
  return [end - WINDOW, end];
}

/** A little air above and below, and never so narrow that round-off looks like motion. */
function energyRange(_: uPlot, low: number | null, high: number | null): [number, number] {
  const [bottom, top] = [low ?? -1, high ?? 1];
  const air = Math.max(0.08 * (top - bottom), 0.5);
  return [bottom - air, top + air];
}
