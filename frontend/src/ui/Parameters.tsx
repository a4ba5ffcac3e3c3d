// The numbers a user may turn: a slider to feel, a box to be exact.

import { reset } from "../commands";
import { controls, send } from "../store";
import type { ParameterView } from "../wire";
import { Symbol } from "./Symbol";

export function Parameters({ parameters }: { parameters: readonly ParameterView[] }) {
  return (
    <section class="parameters" aria-labelledby="parameters-title">
      <h2 id="parameters-title">Parameters</h2>
      {parameters.map((parameter) => (
        <Parameter key={parameter.name} of={parameter} />
      ))}
      <button type="button" class="quiet" disabled={controls.value?.phase !== "ready"} onClick={() => reset(true)}>
        Back to first values
      </button>
    </section>
  );
}

function Parameter({ of: parameter }: { of: ParameterView }) {
  const value = controls.value?.parameters[parameter.name] ?? parameter.default;
  const disabled = controls.value?.phase !== "ready";
  const set = (text: string, settled: boolean): void => {
    const number = Number(text);
    if (text.trim() !== "" && Number.isFinite(number)) {
      send({ type: "set-parameter", name: parameter.name, value: number, settled });
    }
  };
  const common = { min: parameter.low, max: parameter.high, disabled };
  return (
    <div class="parameter">
      <label for={`slider-${parameter.name}`}>
        {parameter.label} <Symbol of={parameter.symbol} />
      </label>
      <span class="value">
        <input
          type="number"
          {...common}
          step="any"
          value={value}
          aria-label={`${parameter.label} in ${parameter.unit}`}
          onChange={(event) => {
            set(event.currentTarget.value, true);
            event.currentTarget.value = String(controls.value?.parameters[parameter.name] ?? value);
          }}
        />
        <span class="unit">{parameter.unit}</span>
      </span>
      <input
        id={`slider-${parameter.name}`}
        type="range"
        {...common}
        step={parameter.step}
        value={value}
        aria-valuetext={`${value} ${parameter.unit}`}
        onInput={(event) => set(event.currentTarget.value, false)}
        onChange={(event) => set(event.currentTarget.value, true)}
      />
    </div>
  );
}
