// A formula or several lines that a user types. A draft stays in the box while it is wrong, with the wrong place marked.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useStudio } from "../studio";
import type { Fault, TextView } from "../wire";
import { t } from "../words";
import { RefusalNote, useRefusal } from "./Refusal";

/** Milliseconds without a key after which a draft is tried. */
const PAUSE = 900;

export function TextControl({ of: text }: { of: TextView }) {
  const studio = useStudio();
  const id = useId();
  const accepted = studio.controls.value?.texts[text.name] ?? text.default;
  const [draft, setDraft] = useState<string | null>(null);
  const sent = useRef<string | null>(null);
  const pause = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const mirror = useRef<HTMLDivElement>(null);
  const shown = draft ?? accepted;
  // What is wrong is told of the text that the studio has; another one has been typed by now, until that comes back.
  const wrong = useRefusal(text.name);
  const refusal = shown === accepted ? wrong : null;

  useEffect(() => () => clearTimeout(pause.current), []);
  useEffect(() => {
    // Undo, a preset or a link has given another text; what was typed here and accepted leaves a later draft alone.
    if (accepted === draft || accepted !== sent.current) setDraft(null);
  }, [accepted]);

  const send = (value: string, settled: boolean): void => {
    clearTimeout(pause.current);
    if (value === sent.current && !settled) return;
    sent.current = value;
    studio.send({ type: "set-text", name: text.name, value, settled });
  };
  const finish = (): void => {
    clearTimeout(pause.current);
    if (draft !== null || sent.current !== null) send(shown, true);
    sent.current = null;
  };
  const type = (value: string): void => {
    const clean = text.kind === "formula" ? value.replace(/\s*\n\s*/g, " ") : value;
    setDraft(clean);
    clearTimeout(pause.current);
    pause.current = setTimeout(() => send(clean, false), PAUSE);
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.isComposing || (text.kind === "lines" && !event.ctrlKey && !event.metaKey)) return;
    event.preventDefault();
    finish();
  };

  return (
    <div class="text" data-text={text.name}>
      <label for={id}>{t(text.label)}</label>
      <div class="typed">
        <div class="mirror" ref={mirror} aria-hidden="true">
          {refusal ? <Marked text={shown} refusal={refusal} /> : null}
        </div>
        <textarea
          id={id}
          rows={text.kind === "lines" ? 2 : 1}
          value={shown}
          placeholder={text.hint}
          maxLength={text.longest}
          disabled={!studio.ready}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          aria-invalid={refusal ? "true" : undefined}
          aria-describedby={refusal ? `${id}-why` : undefined}
          onInput={(event) => type(event.currentTarget.value)}
          onKeyDown={key}
          onBlur={finish}
          onScroll={(event) => mirror.current && (mirror.current.scrollTop = event.currentTarget.scrollTop)}
        />
      </div>
      {refusal && <RefusalNote of={text.name} id={`${id}-why`} />}
      {text.hint && shown === "" && <p class="note">{t("For example: {}", text.hint)}</p>}
    </div>
  );
}

/** The text with its wrong characters marked; one character where only the place is known. */
function Marked({ text, refusal: { start, end } }: { text: string; refusal: Fault }) {
  const letters = Array.from(text); // the server counts characters, not units of UTF-16
  if (start === 0 && end === 0) return <>{text}</>;
  const last = Math.max(end, start + 1);
  return (
    <>
      {letters.slice(0, start).join("")}
      <mark>{letters.slice(start, last).join("") || "\u2002"}</mark>
      {letters.slice(last).join("")}
    </>
  );
}
