// Taking it along: files from the server, pictures and films from the canvas.

import { useEffect, useRef, useState } from "preact/hooks";
import { Film, pictureOfStages, save } from "../picture/compose";
import { useStudio } from "../studio";
import { EXPORT_FORMATS, type Export } from "../wire";
import { Dialog } from "./Dialog";

/** Endings of files that a person may want to read or copy rather than save. */
const READABLE = EXPORT_FORMATS.filter((format) => format.readable).map((format) => `.${format.ending}`);

export function ExportMenu() {
  const studio = useStudio();
  const menu = useRef<HTMLDetailsElement>(null);
  const [text, setText] = useState<{ name: string; content: string } | null>(null);
  const [film, setFilm] = useState<Film | null>(null);
  const ready = studio.download.value;

  useEffect(() => {
    if (!ready) return;
    studio.download.value = null;
    const address = new URL(ready.path, document.baseURI).href;
    if (READABLE.some((ending) => ready.filename.endsWith(ending)))
      void read(address).then(
        (content) => setText({ name: ready.filename, content }),
        (error) => studio.refuse(String(error)),
      );
    else save(address, ready.filename);
  }, [ready]);

  const done = (): void => {
    if (menu.current) menu.current.open = false;
  };
  const closeOnEscape = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    done();
    menu.current?.querySelector("summary")?.focus();
  };
  const send = (kind: Export["kind"]): void => {
    done();
    studio.send({ type: "export", kind });
  };
  const root = (): HTMLElement => menu.current!.closest<HTMLElement>(".holonomy")!;
  const picture = async (): Promise<void> => {
    done();
    await pictureOfStages(root(), () => studio.paintNow()).then(
      (blob) => saveBlob(blob, `${studio.lab.value!.name}.png`),
      (error) => studio.refuse(String(error)),
    );
  };
  const filming = async (): Promise<void> => {
    done();
    try {
      if (film) {
        setFilm(null);
        saveBlob(await film.stop(), `${studio.lab.value!.name}.webm`);
      } else setFilm(new Film(root(), (paint) => studio.onFrame(paint)));
    } catch (error) {
      studio.refuse(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <details class="menu" ref={menu} onKeyDown={closeOnEscape}>
        <summary class="plain">Export</summary>
        <ul>
          {EXPORT_FORMATS.filter(() => studio.can("export")).map(({ kind, label, note }) => (
            <li key={kind}>
              <button type="button" disabled={!studio.ready} onClick={() => send(kind)}>
                <b>{label}</b> <span>{note}</span>
              </button>
            </li>
          ))}
          <li>
            <button type="button" onClick={() => void picture()}>
              <b>PNG</b> <span>the picture as it is</span>
            </button>
          </li>
          <li>
            <button type="button" onClick={() => void filming()}>
              <b>WebM</b> <span>{film ? "stop filming and keep the film" : "film the picture from now on"}</span>
            </button>
          </li>
        </ul>
      </details>
      {film && (
        <button type="button" class="plain filming" onClick={() => void filming()}>
          Stop filming
        </button>
      )}
      {text && <TextDialog name={text.name} content={text.content} close={() => setText(null)} />}
    </>
  );
}

function TextDialog({ name, content, close }: { name: string; content: string; close: () => void }) {
  const [said, setSaid] = useState("");
  const copy = (): void =>
    void navigator.clipboard.writeText(content).then(
      () => setSaid("Copied."),
      () => setSaid("The browser does not let the page copy: mark the text and press Ctrl C."),
    );
  return (
    <Dialog title={name} wide close={close}>
      <pre tabIndex={0} role="region" aria-label={name}>
        {content}
      </pre>
      <div class="row">
        <button type="button" class="plain" onClick={copy}>
          Copy
        </button>
        <button type="button" class="plain" onClick={() => saveBlob(new Blob([content], { type: "text/plain" }), name)}>
          Save
        </button>
        <span role="status">{said}</span>
      </div>
    </Dialog>
  );
}

async function read(address: string): Promise<string> {
  const answer = await fetch(address, { cache: "no-store" });
  if (!answer.ok) throw new Error(`The file could not be fetched (${answer.status}).`);
  return answer.text();
}

function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  save(address, name);
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
