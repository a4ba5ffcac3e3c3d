// While equations are compiled: that it is so, for how long, and a button that takes the change back.

import { useEffect, useState } from "preact/hooks";
import { type Studio, useStudio } from "../studio";
import { t, translated } from "../words";

const TICK = 100;
/** Milliseconds before it appears: most code is there at once. */
const SOON = 300;

export function compiles(studio: Studio): boolean {
  const phase = studio.controls.value?.phase;
  return studio.link.value.state === "open" && (phase === "opening" || phase === "compiling");
}

export function Compiling() {
  const studio = useStudio();
  const busy = compiles(studio);
  const milliseconds = useElapsed(busy);
  const controls = studio.controls.value;
  if (!busy || milliseconds < SOON) return null;
  return (
    <div class="compiling">
      <p role="status">{translated(controls?.message ?? "")}</p>
      <p class="elapsed" aria-hidden="true">
        {(milliseconds / 1000).toFixed(0)} s
      </p>
      {controls?.undo && studio.can("cancel") && (
        <button type="button" class="plain" onClick={() => studio.send({ type: "cancel" })}>
          {t("Cancel")}
        </button>
      )}
    </div>
  );
}

/** Milliseconds since it became busy. */
function useElapsed(busy: boolean): number {
  const [elapsed, setElapsed] = useState(0);
  useEffect(() => {
    setElapsed(0);
    if (!busy) return;
    const begin = performance.now();
    const timer = setInterval(() => setElapsed(performance.now() - begin), TICK);
    return () => clearInterval(timer);
  }, [busy]);
  return busy ? elapsed : 0;
}
