// Time: its buttons, its line, its speed.

import { useRef } from "preact/hooks";
import { step, togglePlay } from "../commands";
import { fixed, withUnit } from "../format";
import { presenting } from "../preferences";
import { useStudio } from "../studio";
import type { LabView } from "../wire";
import { t } from "../words";
import { Icon, type IconName } from "./Icon";
import { MathSymbol } from "./MathSymbol";
import { NumberControl } from "./Number";

const SPEED_STEP = 0.1;
const HOLD_BEFORE_REPEAT = 350;
const REPEAT_EVERY = 1000 / 20;

export function Player({ view }: { view: LabView }) {
  const studio = useStudio();
  const now = studio.controls.value;
  const idle = !studio.moves;
  const playing = now?.playing ?? false;
  return (
    <section class="player" aria-label={t("Time")}>
      <div class="buttons">
        <StepButton frames={-1} icon="back" label={t("Step back")} keys="ArrowLeft" disabled={idle} />
        <button
          type="button"
          class="play"
          aria-label={playing ? t("Pause") : t("Play")}
          aria-keyshortcuts="Space"
          title={playing ? t("Pause (space)") : t("Play (space)")}
          disabled={idle}
          onClick={() => togglePlay(studio)}
        >
          <Icon name={playing ? "pause" : "play"} />
        </button>
        <StepButton frames={1} icon="forward" label={t("Step forward")} keys="ArrowRight" disabled={idle} />
      </div>
      <Timeline />
      <Clock />
      <Speed view={view} />
      {presenting.value && <Leave />}
    </section>
  );
}

/** In the bar, where it covers no picture. */
function Leave() {
  const words = t("End the presentation (P)");
  return (
    <button type="button" class="leave" aria-label={words} title={words} onClick={() => (presenting.value = false)}>
      <Icon name="close" />
    </button>
  );
}

function Timeline() {
  const studio = useStudio();
  const frame = studio.readout.value;
  const dragging = useRef(false);
  const pending = useRef(0);
  const [oldest, newest] = frame ? [frame.oldest, frame.newest] : [0, 0];
  const seek = (time: number, settled: boolean): void => {
    cancelAnimationFrame(pending.current);
    if (settled) studio.send({ type: "seek", time, settled });
    else pending.current = requestAnimationFrame(() => studio.send({ type: "seek", time, settled }));
  };
  return (
    <input
      class="timeline"
      type="range"
      aria-label={t("Timeline")}
      aria-valuetext={frame ? t("{} of {} seconds", fixed(frame.time, 2), fixed(newest, 2)) : t("no time yet")}
      min={oldest}
      max={Math.max(newest, oldest + 1e-3)}
      step="any"
      value={frame?.time ?? 0}
      disabled={!studio.moves || !studio.can("seek") || newest <= oldest}
      onInput={(event) => {
        dragging.current = true;
        seek(event.currentTarget.valueAsNumber, false);
      }}
      onChange={(event) => {
        dragging.current = false;
        seek(event.currentTarget.valueAsNumber, true);
      }}
    />
  );
}

function Clock() {
  const studio = useStudio();
  const frame = studio.readout.value;
  const slow = studio.behind.value;
  return (
    <span
      class={slow ? "clock warning" : "clock"}
      title={slow ? t("The machine cannot compute as fast as time should run; none of the motion is left out.") : undefined}
    >
      <MathSymbol of="t" /> = <span data-readout="time">{frame ? withUnit(fixed(frame.time, 3), "s") : "–"}</span>
      {slow && frame && <small>{t("runs at {}×", fixed(frame.rate, 2))}</small>}
    </span>
  );
}

function Speed({ view }: { view: LabView }) {
  const studio = useStudio();
  return (
    <NumberControl
      name="speed"
      label="Speed"
      unit="×"
      spoken={t("Speed, times real time")}
      scale={{ low: view.speed_low, high: view.speed_high, step: SPEED_STEP, integer: false, logarithmic: false }}
      value={studio.controls.value?.speed ?? 1}
      disabled={!studio.ready || !studio.can("set-speed")}
      set={(value, settled) => settled && studio.send({ type: "set-speed", value })} // one slide, one action to undo
    />
  );
}

interface StepProps {
  readonly frames: number;
  readonly icon: IconName;
  readonly label: string;
  readonly keys: string;
  readonly disabled: boolean;
}

/** One step a click; held down, one after another. */
function StepButton({ frames, icon, label, keys, disabled }: StepProps) {
  const studio = useStudio();
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const again = (): void => {
    step(studio, frames, true);
    timer.current = setTimeout(again, REPEAT_EVERY);
  };
  const release = (): void => clearTimeout(timer.current);
  return (
    <button
      type="button"
      aria-label={label}
      aria-keyshortcuts={keys}
      title={t("{} by one frame; hold to go on", label)}
      disabled={disabled}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        release();
        step(studio, frames, false);
        timer.current = setTimeout(again, HOLD_BEFORE_REPEAT);
      }}
      onPointerUp={release}
      onPointerLeave={release}
      onPointerCancel={release}
      onClick={(event) => {
        if (event.detail === 0) step(studio, frames, false); // from the keyboard; a pointer has stepped already
      }}
    >
      <Icon name={icon} />
    </button>
  );
}
