// A sheet over the page: Escape, its button or a click beside it closes it, and the focus goes back where it was.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { t } from "../words";
import { Icon } from "./Icon";

interface Props {
  readonly title: string;
  readonly wide?: boolean;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, wide, close, children }: Props) {
  const sheet = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = sheet.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={sheet}
      class={wide ? "wide" : ""}
      aria-labelledby={id}
      onClose={close}
      onClick={(event) => event.target === sheet.current && close()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="close" aria-label={t("Close")} title={t("Close (Esc)")} onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <div class="sheet" tabIndex={0} role="region" aria-labelledby={id}>
        {children}
      </div>
    </dialog>
  );
}
