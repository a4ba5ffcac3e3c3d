// The frame that all labs share: pictures, player, plots, one column of controls.

import { useEffect, useRef, useState } from "preact/hooks";
import { catalogue } from "../catalogue";
import { bits, fixed, within, withUnit } from "../format";
import { listen } from "../keyboard";
import { presenting } from "../preferences";
import { useStudio } from "../studio";
import type { Controls, Frame, LabView } from "../wire";
import { t, translated } from "../words";
import { Compiling, compiles } from "./Compiling";
import { EquationsDialog } from "./Equations";
import { HelpDialog } from "./Help";
import { Hint } from "./Hint";
import { Numerics } from "./Numerics";
import { Player } from "./Player";
import { Presets, StoryBar } from "./Presets";
import { Plots } from "./plots/Plots";
import { Energies, Meters, State } from "./Readouts";
import { Settings } from "./Settings";
import { ShareDialog } from "./Share";
import { Sound } from "./Sound";
import { Stages } from "./stage/Stages";
import { type Sheet, Toolbar } from "./Toolbar";

/** `keys` is where keys are listened for: the whole page when the studio is all of it. */
export function Shell({ keys }: { keys: Document | HTMLElement }) {
  const studio = useStudio();
  const root = useRef<HTMLDivElement>(null);
  const [sheet, setSheet] = useState<Sheet | null>(null);
  const view = studio.lab.value;
  const close = (): void => setSheet(null);

  useEffect(() => {
    const present = (): void => {
      if (catalogue.value) presenting.value = !presenting.value; // a notebook's page is not ours to change
    };
    return listen(keys, studio, { help: () => setSheet("help"), equations: () => setSheet("equations"), present });
  }, []);
  useEffect(() => {
    let drawn = 0;
    return studio.onFrame((frame) => describe(root.current!, frame, studio.controls.value?.playing ?? false, drawn++));
  }, []);

  return (
    <div class={view?.pictures.length === 0 ? "laboratory plots-only" : "laboratory"} ref={root} data-studio data-lab={view?.name}>
      <Notice />
      <Compiling />
      {view && (
        <>
          <Stages key={view.name} />
          <Hint lab={view.name} />
          <StoryBar lab={view.name} />
          <Player view={view} />
          <aside aria-label={t("Controls")}>
            <Title view={view} />
            <Toolbar open={setSheet} />
            <Presets lab={view.name} />
            <Settings view={view} />
            <Energies view={view} />
            <Meters view={view} />
            <Sound view={view} />
            <State view={view} />
            <Numerics view={view} />
          </aside>
          <Plots />
          {presenting.value && (
            <header class="unseen">
              <h1>{t(view.title)}</h1>
            </header>
          )}
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
        <p class="mark">{catalogue.value ? <a href="#/">Holonomy</a> : "Holonomy"}</p>
        {labs.length > 1 && (
          <nav aria-label={t("Labs")}>
            {labs.map((entry) => (
              <a key={entry.name} href={`#/${entry.name}`} aria-current={entry.name === view.name ? "page" : undefined}>
                {t(entry.title)}
              </a>
            ))}
          </nav>
        )}
      </div>
      <h1>{t(view.title)}</h1>
      <p class="summary">{translated(view.summary)}</p>
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
      return studio.lab.value ? "" : t("Connecting to the studio.");
    case "lost":
      return t("The studio does not answer; trying again. Is it still running in the terminal?");
    case "silent":
      return t("The studio has stopped answering; the page goes on as soon as it does.");
    case "refused":
      return link.reason;
    case "open":
      return (
        studio.said.value ?? fault(controls) ?? (controls?.phase === "ready" || compiles(studio) ? "" : translated(controls?.message ?? ""))
      );
  }
}

/** Why nothing moves although it could, for as long as it is so. */
function fault(controls: Controls | null): string | null {
  const [first] = controls?.faults ?? [];
  return first ? t("Not running, because: {}", translated(first.message)) : null;
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
  const energy = total < 0 ? "" : ` ${t("Total energy {} J.", fixed(frame.energy[total] ?? NaN, 2))}`;
  return `${t("Held at {} seconds.", fixed(frame.time, 2))} ${places.join(", ")}.${energy}`;
}

/**
 * The exact state, for whoever reads the page with a program: always when time is held, and with every sixth frame that is
 * drawn when it runs. Their own numbers do not count: a slow page leaves frames out, and might leave out every sixth.
 */
function describe(root: HTMLElement, frame: Frame, playing: boolean, drawn: number): void {
  root.dataset.time = String(frame.time);
  root.dataset.playing = String(playing);
  root.dataset.revision = String(frame.revision);
  if (!playing || drawn % 6 === 0) root.dataset.state = bits(frame.time, frame.q, frame.v);
}
