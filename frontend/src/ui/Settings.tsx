// What the lab lets the user change: choices, numbers, what is on or off, and buttons.

import { useId } from "preact/hooks";
import { shortNumber, withUnit } from "../format";
import { useStudio } from "../studio";
import type { ChoiceView, LabView, ParameterView } from "../wire";
import { NumberControl } from "./Number";
import { Section } from "./Section";

const TRAIL_SECONDS = [1, 2, 4, 8, 16];

export function Settings({ view }: { view: LabView }) {
  const studio = useStudio();
  if (!studio.can("set-parameter")) {
    return view.bodies.some((body) => body.trail) ? (
      <Section name="settings" title="Settings">
        <Trails view={view} />
      </Section>
    ) : null;
  }
  const groups = [...new Set(view.parameters.map((parameter) => parameter.group))];
  const inGroup = (group: string): ParameterView[] => view.parameters.filter((parameter) => parameter.group === group);
  return (
    <Section name="settings" title="Settings">
      {view.choices.map((choice) => (
        <Choice key={choice.name} of={choice} />
      ))}
      {groups.includes("") && inGroup("").map((parameter) => <Parameter key={parameter.name} of={parameter} />)}
      {groups
        .filter((group) => group !== "")
        .map((group) => (
          <details key={group} class="group">
            <summary>{group}</summary>
            {inGroup(group).map((parameter) => (
              <Parameter key={parameter.name} of={parameter} />
            ))}
          </details>
        ))}
      <div class="switches">
        {view.toggles.map((toggle) => (
          <label key={toggle.name} class="check" title={toggle.note || undefined}>
            <input
              type="checkbox"
              checked={studio.controls.value?.toggles[toggle.name] ?? toggle.default}
              disabled={!studio.ready}
              onChange={(event) => studio.send({ type: "set-toggle", name: toggle.name, on: event.currentTarget.checked })}
            />
            {toggle.label}
          </label>
        ))}
        <Trails view={view} />
      </div>
      {view.actions.length > 0 && (
        <div class="row">
          {view.actions.map((action) => (
            <button
              key={action.name}
              type="button"
              class="plain"
              title={action.note || undefined}
              disabled={!studio.ready}
              onClick={() => studio.send({ type: "act", name: action.name })}
            >
              {action.label}
            </button>
          ))}
        </div>
      )}
    </Section>
  );
}

function Parameter({ of: parameter }: { of: ParameterView }) {
  const studio = useStudio();
  return (
    <NumberControl
      name={parameter.name}
      label={parameter.label}
      symbol={parameter.symbol}
      unit={parameter.unit}
      scale={parameter}
      most={parameter.most ?? parameter.high}
      value={studio.controls.value?.parameters[parameter.name] ?? parameter.default}
      disabled={!studio.ready}
      set={(value, settled) => studio.send({ type: "set-parameter", name: parameter.name, value, settled })}
    />
  );
}

/** A few options side by side; more in a list. */
function Choice({ of: choice }: { of: ChoiceView }) {
  const studio = useStudio();
  const id = useId();
  const value = studio.controls.value?.choices[choice.name] ?? choice.default;
  const set = (next: string): void => studio.send({ type: "set-choice", name: choice.name, value: next });
  if (choice.options.length <= 3) {
    return (
      <div class="list">
        <span id={id}>{choice.label}</span>
        <div class="choice" role="radiogroup" aria-labelledby={id}>
          {choice.options.map((option) => (
            <label key={option.value} title={option.note || undefined}>
              <input
                type="radio"
                name={id}
                value={option.value}
                checked={option.value === value}
                disabled={!studio.ready}
                onChange={() => set(option.value)}
              />
              <span>{option.label}</span>
            </label>
          ))}
        </div>
      </div>
    );
  }
  const note = choice.options.find((option) => option.value === value)?.note;
  return (
    <div class="list">
      <label for={id}>{choice.label}</label>
      <select id={id} value={value} disabled={!studio.ready} onChange={(event) => set(event.currentTarget.value)}>
        {choice.options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {note && <p class="note">{note}</p>}
    </div>
  );
}

/** Paths are the page's own matter: they change the picture, not the motion. */
function Trails({ view }: { view: LabView }) {
  const studio = useStudio();
  const traced = view.bodies.filter((body) => body.trail && !body.ghost).length;
  if (traced === 0) return null;
  const off = !studio.trailsShown.value;
  return (
    <div class="trails">
      <label class="check">
        <input type="checkbox" checked={!off} onChange={(event) => (studio.trailsShown.value = event.currentTarget.checked)} />
        Draw paths
      </label>
      {traced > 1 && (
        <select
          aria-label="Whose paths"
          value={studio.trailsOfAll.value ? "all" : "last"}
          disabled={off}
          onChange={(event) => (studio.trailsOfAll.value = event.currentTarget.value === "all")}
        >
          <option value="all">of all bodies</option>
          <option value="last">of the last body</option>
        </select>
      )}
      <select
        aria-label="Length of the paths"
        value={String(studio.trailSeconds.value)}
        disabled={off}
        onChange={(event) => (studio.trailSeconds.value = Number(event.currentTarget.value))}
      >
        {TRAIL_SECONDS.map((seconds) => (
          <option key={seconds} value={String(seconds)}>
            for {withUnit(shortNumber(seconds * studio.timeUnit.value), "s")}
          </option>
        ))}
      </select>
    </div>
  );
}
