// The frame that all labs share: pictures, player, plots, one column of controls.

import { useEffect, useRef, useState } from "preact/hooks";
import { bits, fixed, within, withUnit } from "../format";
import { listen } from "../keyboard";
import { useStudio } from "../studio";
import type { Frame, LabView } from "../wire";
import { EquationsDialog } from "./Equations";
import { HelpDialog } from "./Help";
import { Player } from "./Player";
import { Plots } from "./Plots";
import { Certificate, Energies, Meters, State } from "./Readouts";
import { Settings } from "./Settings";
import { ShareDialog } from "./Share";
import { Stages } from "./stage/Stages";
import { type Sheet, Toolbar } from "./Toolbar";

/** `keys` is where keys are listened for: the whole page when the studio is all of it. */
export function Shell({ keys }: { keys: Document | HTMLElement }) {
  const studio = useStudio();
  const root = useRef<HTMLDivElement>(null);
  const [sheet, setSheet] = useState<Sheet | null>(null);
  const view = studio.lab.value;
  const close = (): void => setSheet(null);

  useEffect(() => listen(keys, studio, { help: () => setSheet("help"), equations: () => setSheet("equations") }), []);
  useEffect(() => studio.onFrame((frame) => describe(root.current!, frame, studio.controls.value?.playing ?? false)), []);

  return (
    <div class={view?.pictures.length === 0 ? "laboratory plots-only" : "laboratory"} ref={root} data-studio>
      <Notice />
      {view && (
        <>
          <Stages key={view.name} />
          <Player view={view} />
          <aside aria-label="Controls">
            <Title view={view} />
            <Toolbar open={setSheet} />
            <Settings view={view} />
            <Energies view={view} />
            <Meters view={view} />
            <State view={view} />
            <Certificate view={view} />
          </aside>
          <Plots />
          <Summary view={view} />
        </>
      )}
      {sheet === "help" && <HelpDialog close={close} />}
      {sheet === "equations" && view && <EquationsDialog close={close} />}
      {sheet === "share" && view && <ShareDialog close={close} />}
    </div>
  );
}

function Title({ view }: { view: LabView }) {
  const labs = useStudio().labs.value;
  return (
    <header class="title">
      <div class="labs">
        <p class="mark">Holonomy</p>
        {labs.length > 1 && (
          <nav aria-label="Labs">
            {labs.map((entry) => (
              <a key={entry.name} href={`#/${entry.name}`} aria-current={entry.name === view.name ? "page" : undefined}>
                {entry.title}
              </a>
            ))}
          </nav>
        )}
      </div>
      <h1>{view.title}</h1>
      <p class="summary">{view.summary}</p>
    </header>
  );
}

/** One sentence at a time: what keeps the studio from running, or why it just refused something. */
function Notice() {
  const studio = useStudio();
  const text = trouble(studio);
  return (
    <p class={text ? "notice shown" : "notice"} role="status" aria-live="polite">
      {text}
    </p>
  );
}

function trouble(studio: ReturnType<typeof useStudio>): string {
  const link = studio.link.value;
  const controls = studio.controls.value;
  switch (link.state) {
    case "connecting":
      return studio.lab.value ? "" : "Connecting to the studio.";
    case "lost":
      return "The studio does not answer; trying again. Is it still running in the terminal?";
    case "refused":
      return link.reason;
    case "open":
      return studio.refusal.value ?? (controls?.phase === "ready" ? "" : (controls?.message ?? ""));
  }
}

/** How many coordinates are read out aloud. */
const SPOKEN = 4;

/** For those who listen rather than look: said when time is held, quiet while it runs. */
function Summary({ view }: { view: LabView }) {
  const studio = useStudio();
  const frame = studio.readout.value;
  const text = !frame || studio.controls.value?.playing ? "" : spoken(view, frame);
  return (
    <p class="unseen" role="log" aria-live="polite" data-summary>
      {text}
    </p>
  );
}

function spoken(view: LabView, frame: Frame): string {
  const places = view.coordinates
    .slice(0, SPOKEN)
    .map((coordinate, i) => `${coordinate.symbol} ${withUnit(fixed(within(frame.q[i] ?? NaN, coordinate.period), 2), coordinate.unit)}`);
  const total = view.energies.findIndex((energy) => energy.total);
  const energy = total < 0 ? "" : ` Total energy ${fixed(frame.energy[total] ?? NaN, 2)} J.`;
  return `Held at ${fixed(frame.time, 2)} seconds. ${places.join(", ")}.${energy}`;
}

/** The exact state, for whoever reads the page with a program: always when time is held, now and then when it runs. */
function describe(root: HTMLElement, frame: Frame, playing: boolean): void {
  root.dataset.time = String(frame.time);
  root.dataset.playing = String(playing);
  root.dataset.revision = String(frame.revision);
  if (!playing || frame.sequence % 6 === 0) root.dataset.state = bits(frame.time, frame.q, frame.v);
}
