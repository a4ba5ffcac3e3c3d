import { controls, lab, labs, link, readout, refusal, trailShown } from "../store";
import { fixed } from "../format";
import type { LabView } from "../wire";
import { EnergyPlot } from "./EnergyPlot";
import { Parameters } from "./Parameters";
import { Certificate, State } from "./Readouts";
import { Stage } from "./Stage";
import { Transport } from "./Transport";

export function App() {
  const view = lab.value;
  return (
    <>
      <Notice />
      {view ? <Laboratory key={view.name} view={view} /> : null}
    </>
  );
}

function Laboratory({ view }: { view: LabView }) {
  return (
    <div class="laboratory">
      <main>
        <Stage view={view} />
      </main>
      <aside aria-label="Controls">
        <header class="title">
          <p class="mark">Holonomy</p>
          <Labs here={view.name} />
          <h1>{view.title}</h1>
          <p class="summary">{view.summary}</p>
        </header>
        <Transport />
        <State view={view} />
        <Parameters parameters={view.parameters} />
        <label class="check">
          <input
            type="checkbox"
            checked={trailShown.value}
            onChange={(event) => (trailShown.value = event.currentTarget.checked)}
          />
          Draw the path of the {view.bodies.find((body) => body.trail)?.label ?? "last body"}
        </label>
        <Certificate view={view} />
      </aside>
      <EnergyPlot view={view} />
      <Summary />
    </div>
  );
}

/** The way to the other labs, when there are others. */
function Labs({ here }: { here: string }) {
  if (labs.value.length < 2) return null;
  return (
    <nav aria-label="Labs">
      {labs.value.map((entry) => (
        <a key={entry.name} href={`#/${entry.name}`} aria-current={entry.name === here ? "page" : undefined}>
          {entry.title}
        </a>
      ))}
    </nav>
  );
}

/** One sentence at a time: what keeps the studio from running, or why it just refused something. */
function Notice() {
  const text = trouble();
  return (
    <p class={text ? "notice shown" : "notice"} role="status" aria-live="polite">
      {text}
    </p>
  );
}

function trouble(): string {
  switch (link.value.state) {
    case "connecting":
      return lab.value ? "" : "Connecting to the studio.";
    case "lost":
      return "The studio does not answer; trying again. Is it still running in the terminal?";
    case "refused":
      return link.value.reason;
    case "open":
      return refusal.value ?? (controls.value?.phase === "ready" ? "" : (controls.value?.message ?? ""));
  }
}

/** For those who listen rather than look: said when time is held, quiet while it runs. */
function Summary() {
  const frame = readout.value;
  const text = !frame || controls.value?.playing ? "" : `Held at ${fixed(frame.time, 2)} seconds.`;
  return (
    <p class="unseen" role="log" aria-live="polite">
      {text}
    </p>
  );
}
