// Time and its buttons.

import { useRef } from "preact/hooks";
import { redo, reset, step, togglePlay, undo } from "../commands";
import { controls, send } from "../store";
import { Icon, type IconName } from "./Icon";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 3, 5];
const HOLD_BEFORE_REPEAT = 350;
const REPEAT_EVERY = 1000 / 20;

export function Transport() {
  const now = controls.value;
  const idle = now?.phase !== "ready";
  const playing = now?.playing ?? false;
  return (
    <section class="transport" aria-label="Time">
      <div class="buttons" role="toolbar" aria-label="Play, step and undo">
        <StepButton frames={-1} icon="back" label="Step back" keys="ArrowLeft" disabled={idle} />
        <button
          type="button"
          class="play"
          aria-label={playing ? "Pause" : "Play"}
          aria-keyshortcuts="Space"
          title={`${playing ? "Pause" : "Play"} (space)`}
          disabled={idle}
          onClick={togglePlay}
        >
          <Icon name={playing ? "pause" : "play"} />
        </button>
        <StepButton frames={1} icon="forward" label="Step forward" keys="ArrowRight" disabled={idle} />
        <span class="gap" />
        <Plain icon="undo" label="Undo" what={now?.undo} keys="Control+Z" disabled={idle || !now?.undo} act={undo} />
        <Plain icon="redo" label="Redo" what={now?.redo} keys="Control+Shift+Z" disabled={idle || !now?.redo} act={redo} />
        <Plain icon="reset" label="Reset" what="go back to the start" keys="R" disabled={idle} act={() => reset(false)} />
      </div>
      <label class="speed">
        <span>Speed</span>
        <select
          value={String(now?.speed ?? 1)}
          disabled={idle}
          onChange={(event) => send({ type: "set-speed", value: Number(event.currentTarget.value) })}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={String(speed)}>
              {speed}×
            </option>
          ))}
        </select>
      </label>
    </section>
  );
}

interface PlainProps {
  readonly icon: IconName;
  readonly label: string;
  readonly what: string | null | undefined;
  readonly keys: string;
  readonly disabled: boolean;
  readonly act: () => void;
}

function Plain({ icon, label, what, keys, disabled, act }: PlainProps) {
  const title = what ? `${label}: ${what}` : label;
  return (
    <button type="button" aria-label={label} aria-keyshortcuts={keys} title={title} disabled={disabled} onClick={act}>
      <Icon name={icon} />
    </button>
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
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const again = (): void => {
    step(frames, true);
    timer.current = setTimeout(again, REPEAT_EVERY);
  };
  const release = (): void => clearTimeout(timer.current);
  return (
    <button
      type="button"
      aria-label={label}
      aria-keyshortcuts={keys}
      title={`${label} by one picture; hold to go on`}
      disabled={disabled}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        release();
        step(frames, false);
        timer.current = setTimeout(again, HOLD_BEFORE_REPEAT);
      }}
      onPointerUp={release}
      onPointerLeave={release}
      onPointerCancel={release}
      onClick={(event) => {
        if (event.detail === 0) step(frames, false); // from the keyboard; a pointer has stepped already
      }}
    >
      <Icon name={icon} />
    </button>
  );
}
