// What the lab lets the user change: choices, numbers, what is on or off, and buttons.

import { useId } from "preact/hooks";
import { cardOf, NUMERICS, PRESET } from "../catalogue";
import { shortNumber, withUnit } from "../format";
import { useStudio } from "../studio";
import type { ChoiceView, LabView, ParameterView, TextView, ToggleView } from "../wire";
import { t } from "../words";
import { NumberControl } from "./Number";
import { RefusalNote, useRefusal } from "./Refusal";
import { Section } from "./Section";
import { TextControl } from "./TextControl";

const TRAIL_SECONDS = [1, 2, 4, 8, 16];

export function Settings({ view }: { view: LabView }) {
  const studio = useStudio();
  if (!studio.can("set-parameter")) {
    return view.bodies.some((body) => body.trail) ? (
      <Section name="settings" title={t("Settings")}>
        <Trails view={view} />
      </Section>
    ) : null;
  }
  const texts = view.texts.filter((text) => text.kind !== "curve"); // a curve is drawn in its picture
  const own = new Set([...texts, ...view.parameters].map((setting) => setting.group));
  const groups = [...own].filter((group) => group !== "" && group !== NUMERICS);
  const inGroup = (group: string): ParameterView[] => view.parameters.filter((parameter) => parameter.group === group);
  const textsIn = (group: string): TextView[] => texts.filter((text) => text.group === group);
  const written = ({ name }: TextView): boolean => Boolean(studio.controls.value?.texts[name]);
  const refused = ({ name }: TextView): boolean => studio.wrongWith(name) !== null;
  // A group is open where one of its texts is refused, or takes the place of one above that is empty.
  const isOpen = (group: string): boolean => textsIn(group).some(refused) || (textsIn(group).some(written) && !textsIn("").every(written));
  return (
    <Section name="settings" title={t("Settings")}>
      {textsIn("").map((text) => (
        <TextControl key={text.name} of={text} />
      ))}
      {inGroup("").map((parameter) => (
        <Parameter key={parameter.name} of={parameter} />
      ))}
      {view.choices
        .filter((choice) => choice.group !== NUMERICS)
        .map((choice) => (
          <Choice key={choice.name} of={choice} />
        ))}
      <div class="switches">
        {view.toggles.map((toggle) => (
          <Toggle key={toggle.name} of={toggle} />
        ))}
        <Trails view={view} />
      </div>
      <Actions view={view} />
      {groups.map((group) => (
        <details key={group} class="group" open={isOpen(group)}>
          <summary>{t(group)}</summary>
          {textsIn(group).map((text) => (
            <TextControl key={text.name} of={text} />
          ))}
          {inGroup(group).map((parameter) => (
            <Parameter key={parameter.name} of={parameter} />
          ))}
        </details>
      ))}
    </Section>
  );
}

/** The lab's buttons; its presets are pictures where the page has them. */
function Actions({ view }: { view: LabView }) {
  const studio = useStudio();
  const pictured = cardOf(view.name) !== null;
  const actions = view.actions.filter((action) => !(pictured && action.name.startsWith(PRESET)));
  if (actions.length === 0) return null;
  return (
    <div class="row">
      {actions.map((action) => (
        <button
          key={action.name}
          type="button"
          class="plain"
          title={t(action.note) || undefined}
          disabled={!studio.ready}
          onClick={() => studio.send({ type: "act", name: action.name })}
        >
          {t(action.label)}
        </button>
      ))}
    </div>
  );
}

function Toggle({ of: toggle }: { of: ToggleView }) {
  const studio = useStudio();
  useRefusal(toggle.name); // a refused switch goes back
  return (
    <>
      <label class="check" title={t(toggle.note) || undefined}>
        <input
          type="checkbox"
          checked={studio.controls.value?.toggles[toggle.name] ?? toggle.default}
          disabled={!studio.ready}
          onChange={(event) => studio.send({ type: "set-toggle", name: toggle.name, on: event.currentTarget.checked })}
        />
        {t(toggle.label)}
      </label>
      <RefusalNote of={toggle.name} />
    </>
  );
}

export function Parameter({ of: parameter }: { of: ParameterView }) {
  const studio = useStudio();
  useRefusal(parameter.name); // a refused number goes back
  return (
    <>
      <NumberControl
        name={parameter.name}
        label={parameter.label}
        symbol={parameter.symbol}
        unit={parameter.unit}
        scale={parameter}
        most={parameter.most ?? parameter.high}
        least={parameter.least ?? parameter.low}
        value={studio.controls.value?.parameters[parameter.name] ?? parameter.default}
        disabled={!studio.ready}
        set={(value, settled) => studio.send({ type: "set-parameter", name: parameter.name, value, settled })}
      />
      <RefusalNote of={parameter.name} />
    </>
  );
}

/** A few options side by side; more in a list. */
export function Choice({ of: choice }: { of: ChoiceView }) {
  const studio = useStudio();
  const id = useId();
  useRefusal(choice.name); // a refused choice goes back
  const value = studio.controls.value?.choices[choice.name] ?? choice.default;
  const set = (next: string): void => studio.send({ type: "set-choice", name: choice.name, value: next });
  if (choice.options.length <= 3) {
    return (
      <div class="list">
        <span id={id}>{t(choice.label)}</span>
        <div class="choice" role="radiogroup" aria-labelledby={id}>
          {choice.options.map((option) => (
            <label key={option.value} title={t(option.note) || undefined}>
              <input
                type="radio"
                name={id}
                value={option.value}
                checked={option.value === value}
                disabled={!studio.ready}
                onChange={() => set(option.value)}
              />
              <span>{t(option.label)}</span>
            </label>
          ))}
        </div>
        <RefusalNote of={choice.name} />
      </div>
    );
  }
  const note = choice.options.find((option) => option.value === value)?.note;
  return (
    <div class="list">
      <label for={id}>{t(choice.label)}</label>
      <select id={id} value={value} disabled={!studio.ready} onChange={(event) => set(event.currentTarget.value)}>
        {choice.options.map((option) => (
          <option key={option.value} value={option.value}>
            {t(option.label)}
          </option>
        ))}
      </select>
      {note && <p class="note">{t(note)}</p>}
      <RefusalNote of={choice.name} />
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
        {t("Trails")}
      </label>
      {traced > 1 && (
        <select
          aria-label={t("Trails of which bodies")}
          value={studio.trailsOfAll.value ? "all" : "last"}
          disabled={off}
          onChange={(event) => (studio.trailsOfAll.value = event.currentTarget.value === "all")}
        >
          <option value="all">{t("of all bodies")}</option>
          <option value="last">{t("of the last body")}</option>
        </select>
      )}
      <select
        aria-label={t("Length of the trails")}
        value={String(studio.trailSeconds.value)}
        disabled={off}
        onChange={(event) => (studio.trailSeconds.value = Number(event.currentTarget.value))}
      >
        {TRAIL_SECONDS.map((seconds) => (
          <option key={seconds} value={String(seconds)}>
            {t("for {}", withUnit(shortNumber(seconds * studio.timeUnit.value), "s"))}
          </option>
        ))}
      </select>
    </div>
  );
}
