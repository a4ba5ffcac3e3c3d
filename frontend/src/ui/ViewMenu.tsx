// How the page looks and speaks: colours, language, presentation.

import { useId, useRef } from "preact/hooks";
import { choose, LANGUAGES, type Language, language, presenting, THEMES, type Theme, theme } from "../preferences";
import { t } from "../words";

const NAMES: Record<Theme, string> = { system: "As the system", light: "Light", dark: "Dark" };

export function ViewMenu({ lab = false }: { lab?: boolean }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [colours, tongue] = [useId(), useId()];
  const close = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !menu.current?.open) return;
    menu.current.open = false;
    menu.current.querySelector("summary")?.focus();
  };
  return (
    <details class="menu view" ref={menu} onKeyDown={close}>
      <summary class="plain">{t("View")}</summary>
      <div class="panel">
        <div class="list">
          <label for={colours}>{t("Colours")}</label>
          <select id={colours} value={theme.value} onChange={(event) => (theme.value = event.currentTarget.value as Theme)}>
            {THEMES.map((one) => (
              <option key={one} value={one}>
                {t(NAMES[one])}
              </option>
            ))}
          </select>
        </div>
        <div class="list">
          <label for={tongue}>{t("Language")}</label>
          <select id={tongue} value={language.value} onChange={(event) => choose(event.currentTarget.value as Language)}>
            {Object.entries(LANGUAGES).map(([code, name]) => (
              <option key={code} value={code} lang={code}>
                {name}
              </option>
            ))}
          </select>
        </div>
        {lab && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              menu.current!.open = false;
              presenting.value = true;
            }}
          >
            {t("Presentation (P)")}
          </button>
        )}
      </div>
    </details>
  );
}
