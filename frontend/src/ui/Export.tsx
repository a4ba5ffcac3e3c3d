// Taking it along: files from the server, pictures and films from the canvas.

import { useEffect, useRef, useState } from "preact/hooks";
import { drawingOfStages, pictureOfStages, save, saveBlob } from "../picture/compose";
import { type Film, type FilmKind, film, type Scene } from "../picture/film";
import { useStudio } from "../studio";
import { EXPORT_FORMATS } from "../wire";
import { t } from "../words";
import { Dialog } from "./Dialog";

type Format = (typeof EXPORT_FORMATS)[number];

/** Endings of files that a person may want to read or copy rather than save. */
const READABLE = EXPORT_FORMATS.filter((format) => format.readable).map((format) => `.${format.ending}`);

export function ExportMenu() {
  const studio = useStudio();
  const menu = useRef<HTMLDetailsElement>(null);
  const [text, setText] = useState<{ name: string; content: string } | null>(null);
  const [filming, setFilming] = useState<{ kind: FilmKind; film: Film } | null>(null);
  const ready = studio.download.value;

  useEffect(() => {
    if (!ready) return;
    studio.download.value = null;
    const address = new URL(ready.path, document.baseURI).href;
    if (READABLE.some((ending) => ready.filename.endsWith(ending)))
      void read(address).then(
        (content) => studio.isCurrent(ready) && setText({ name: ready.filename, content }),
        (error) => studio.say(String(error)),
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
  const scene = (): Scene => ({
    root: menu.current!.closest<HTMLElement>(".holonomy")!,
    paint: () => studio.paintNow(),
    follow: (shoot) => studio.onFrame(shoot),
  });
  const name = (ending: string): string => `${studio.lab.value!.name}.${ending}`;
  const stop = async (): Promise<void> => {
    if (!filming) return;
    setFilming(null);
    saveBlob(await filming.film.stop(), name(filming.kind));
  };
  const make = async (kind: Format["kind"]): Promise<void> => {
    const { root, paint } = scene();
    switch (kind) {
      case "png":
        return saveBlob(await pictureOfStages(root, paint), name("png"));
      case "svg":
        return saveBlob(new Blob([drawingOfStages(root, paint)], { type: "image/svg+xml" }), name("svg"));
      case "gif":
      case "mp4":
      case "webm":
        await stop();
        return setFilming({ kind, film: film(kind, scene()) });
      case "embed":
        return setText({ name: `${studio.lab.value!.name}-embed.txt`, content: embedding(name("html"), studio.lab.value!.title) });
      default:
        studio.send({ type: "export", kind });
    }
  };
  const choose = (kind: Format["kind"]): void => {
    done();
    void make(kind).catch((error) => studio.say(error instanceof Error ? error.message : String(error)));
  };
  // Without a studio there is no web page to embed but the one that is being looked at.
  const formats = EXPORT_FORMATS.filter(({ kind, by }) => studio.can("export") || (by === "page" && kind !== "embed"));
  return (
    <>
      <details class="menu" ref={menu} onKeyDown={closeOnEscape}>
        <summary class="plain">{t("Export")}</summary>
        <ul>
          {formats.map(({ kind, label, note, by }) => (
            <li key={kind}>
              <button type="button" disabled={by === "studio" && !studio.moves} onClick={() => choose(kind)}>
                <b>{t(label)}</b> <span>{t(note)}</span>
              </button>
            </li>
          ))}
        </ul>
      </details>
      {filming && (
        <button type="button" class="plain filming" onClick={() => void stop()}>
          {t("Stop filming")}
        </button>
      )}
      {text && <TextDialog name={text.name} content={text.content} close={() => setText(null)} />}
    </>
  );
}

/** What to write into a web page to show an exported one in it. */
function embedding(file: string, title: string): string {
  return [
    `<!-- Export the web page, put ${file} beside the page that shows it, and these lines into that page. -->`,
    `<iframe src="${file}" title="${title}: a motion by Holonomy" width="100%" height="620"`,
    '  style="border: 0" loading="lazy" sandbox="allow-scripts allow-downloads"></iframe>',
    "",
  ].join("\n");
}

function TextDialog({ name, content, close }: { name: string; content: string; close: () => void }) {
  const [said, setSaid] = useState("");
  const copy = (): void =>
    void navigator.clipboard.writeText(content).then(
      () => setSaid(t("Copied.")),
      () => setSaid(t("The browser does not let the page copy: mark the text and press Ctrl C.")),
    );
  return (
    <Dialog title={name} wide close={close}>
      <pre tabIndex={0} role="region" aria-label={name}>
        {content}
      </pre>
      <div class="row">
        <button type="button" class="plain" onClick={copy}>
          {t("Copy")}
        </button>
        <button type="button" class="plain" onClick={() => saveBlob(new Blob([content], { type: "text/plain" }), name)}>
          {t("Save")}
        </button>
        <span role="status">{said}</span>
      </div>
    </Dialog>
  );
}

async function read(address: string): Promise<string> {
  const answer = await fetch(address, { cache: "no-store" });
  if (!answer.ok) throw new Error(t("The file could not be fetched ({}).", answer.status));
  return answer.text();
}
