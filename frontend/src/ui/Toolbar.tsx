// What is done with the whole state: take back, start again, read its equations, take it along.

import { catalogue } from "../catalogue";
import { redo, reset, undo } from "../commands";
import { useStudio } from "../studio";
import { t, translated } from "../words";
import { ExportMenu } from "./Export";
import { Icon, type IconName } from "./Icon";
import { ViewMenu } from "./ViewMenu";

export type Sheet = "help" | "equations" | "share";

export function Toolbar({ open }: { open: (sheet: Sheet) => void }) {
  const studio = useStudio();
  const now = studio.controls.value;
  const idle = !studio.ready;
  return (
    <div class="toolbar">
      <div class="buttons">
        {studio.can("undo") && (
          <Plain icon="undo" label={t("Undo")} what={now?.undo} keys="Control+Z" disabled={idle || !now?.undo} act={() => undo(studio)} />
        )}
        {studio.can("redo") && (
          <Plain
            icon="redo"
            label={t("Redo")}
            what={now?.redo}
            keys="Control+Shift+Z"
            disabled={idle || !now?.redo}
            act={() => redo(studio)}
          />
        )}
        {studio.can("reset") && (
          <Plain icon="reset" label={t("Reset")} what={t("back to the start")} keys="R" disabled={idle} act={() => reset(studio, false)} />
        )}
        {studio.can("reset") && studio.can("set-parameter") && (
          <button type="button" class="plain" disabled={idle} onClick={() => reset(studio, true)}>
            {t("Restore defaults")}
          </button>
        )}
        <button
          type="button"
          class="plain round"
          aria-label={t("Help")}
          aria-keyshortcuts="?"
          title={`${t("Help")} (?)`}
          onClick={() => open("help")}
        >
          ?
        </button>
      </div>
      <div class="words">
        {studio.can("ask-equations") && (
          <button type="button" class="plain" disabled={!studio.moves} onClick={() => open("equations")}>
            {t("Equations")}
          </button>
        )}
        {studio.can("share") && (
          <button type="button" class="plain" disabled={!studio.moves} onClick={() => open("share")}>
            {t("Share")}
          </button>
        )}
        <ExportMenu />
        {catalogue.value && <ViewMenu lab />}
      </div>
    </div>
  );
}

interface PlainProps {
  readonly icon: IconName;
  readonly label: string;
  readonly what: string | null | undefined;
  readonly keys: string;
  readonly disabled: boolean;
  readonly act: () => void;
}

function Plain({ icon, label, what, keys, disabled, act }: PlainProps) {
  const title = what ? `${label}: ${translated(what)}` : label;
  return (
    <button type="button" aria-label={label} aria-keyshortcuts={keys} title={title} disabled={disabled} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}
