// A chart in an element of the page, drawn as frames come.

import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { palette } from "../../colours";
import { Chart, type ChartSpec } from "../../plot/chart";
import { Turns } from "../../plot/turns";
import { type Studio, useStudio } from "../../studio";
import type { LabView } from "../../wire";
import { coloured } from "./curves";

/** Milliseconds after which a chart whose turn did not come is drawn all the same: time may be held. */
const LATEST = 1000 / 12;
/** The charts of each studio. */
const ALL_TURNS = new WeakMap<Studio, Turns>();
/** Drawing may take this part of the time; a slow machine draws its plots less often and its picture as before. */
const SHARE = 0.2;

/** Keeps a chart of these curves in the element that `root` is put on. */
export function useChart(view: LabView, spec: ChartSpec, fontSize?: number): { root: RefObject<HTMLDivElement>; chart: RefObject<Chart> } {
  const studio = useStudio();
  const root = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart>(null);

  useEffect(() => {
    const place = root.current!;
    const drawn = (chart.current = new Chart(place, studio.history, palette.value, fontSize));
    const watcher = new ResizeObserver(() => drawn.resize());
    watcher.observe(place);
    const turns = ALL_TURNS.get(studio) ?? new Turns();
    ALL_TURNS.set(studio, turns);
    turns.join(drawn);
    let next = 0;
    let later: ReturnType<typeof setTimeout> | undefined;
    const draw = (time: number): void => {
      const before = performance.now();
      drawn.known = studio.controls.value?.certificate.known_until ?? null;
      drawn.draw(time);
      place.dataset.rows = String(drawn.rows);
      place.dataset.points = String(drawn.points);
      const now = performance.now();
      turns.drew(drawn, now);
      delete place.dataset.due;
      next = now + (now - before) / SHARE;
    };
    const stop = studio.onFrame((frame) => {
      clearTimeout(later);
      const now = performance.now();
      if (turns.has(drawn, frame.sequence, now) && now >= next) draw(frame.time);
      else {
        later = setTimeout(() => draw(frame.time), Math.max(LATEST, next - now));
        place.dataset.due ??= ""; // for whoever reads the page with a program: what is drawn is not the latest
      }
    });
    return () => {
      stop();
      turns.leave(drawn);
      clearTimeout(later);
      watcher.disconnect();
      drawn.dispose();
    };
  }, []);

  useEffect(() => effect(() => chart.current?.show(coloured(view, spec), palette.value)), [view, spec]);
  return { root, chart };
}
