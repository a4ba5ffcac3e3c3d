// A box for a formula. What is wrong is marked at its place as one types; only a formula that can be computed is taken.

import { useId, useRef, useState } from "preact/hooks";
import { formulaError, formulaNames } from "../../plot/axis";
import { CONSTANTS, FUNCTIONS } from "../../plot/expression";
import type { LabView } from "../../wire";
import { t } from "../../words";

interface Props {
  readonly label: string;
  readonly view: LabView;
  readonly formula: string;
  readonly set: (formula: string) => void;
}

export function FormulaField({ label, view, formula, set }: Props) {
  const box = useRef<HTMLInputElement>(null);
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? formula;
  const error = formulaError(view, text);
  const take = (): void => {
    if (error || typed === null) return;
    setTyped(null);
    if (typed.trim() !== formula) set(typed.trim());
  };
  const insert = (name: string): void => {
    const field = box.current!;
    field.setRangeText(name, field.selectionStart ?? text.length, field.selectionEnd ?? text.length, "end");
    setTyped(field.value);
    field.focus();
  };
  return (
    <div class="formula-field">
      <input
        ref={box}
        type="text"
        aria-label={label}
        aria-invalid={error !== null && text !== ""}
        aria-describedby={id}
        autocomplete="off"
        spellcheck={false}
        placeholder="theta1 + theta2"
        value={text}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && take()}
        onBlur={take}
      />
      <p class="formula-error" id={id} role="status">
        {error && text !== "" && (
          <>
            <code>
              {text.slice(0, error.start)}
              <mark>{text.slice(error.start, error.end) || "\u2002"}</mark>
              {text.slice(error.end)}
            </code>{" "}
            {error.message}
          </>
        )}
      </p>
      <details>
        <summary>{t("Names and functions")}</summary>
        <p class="names">
          {[...formulaNames(view), ...CONSTANTS.keys(), ...FUNCTIONS.map((name) => `${name}(`)].map((name) => (
            <button key={name} type="button" onClick={() => insert(name)}>
              {name.replace("(", "( )")}
            </button>
          ))}
        </p>
      </details>
    </div>
  );
}
