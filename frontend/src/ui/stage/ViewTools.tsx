// Small buttons in a corner of a picture: nearer, farther, all of it, follow the bodies, the whole screen.

import type { RefObject } from "preact";
import { t } from "../../words";
import { Icon, type IconName } from "../Icon";
import type { LensTools } from "./useLens";

interface Props {
  readonly root: RefObject<HTMLDivElement>;
  readonly lens: LensTools;
  /** Whether the picture follows its bodies, and a way to change that; missing where it cannot. */
  readonly follow?: { readonly on: boolean; readonly set: (on: boolean) => void };
}

const STEP = 1.3;

export function ViewTools({ root, lens, follow }: Props) {
  const whole = (): void => {
    if (document.fullscreenElement) void document.exitFullscreen();
    else void root.current!.requestFullscreen?.();
  };
  return (
    <div class="view-tools" role="group" aria-label={t("View")}>
      <Tool icon="plus" label={t("Zoom in")} keys="+" act={() => lens.zoom(STEP)} />
      <Tool icon="minus" label={t("Zoom out")} keys="-" act={() => lens.zoom(1 / STEP)} />
      <Tool icon="fit" label={t("Fit")} keys="0" act={lens.fit} />
      {follow && <Tool icon="follow" label={t("Follow the bodies")} pressed={follow.on} act={() => follow.set(!follow.on)} />}
      {document.fullscreenEnabled && <Tool icon="enlarge" label={t("Full screen")} act={whole} />}
    </div>
  );
}

interface ToolProps {
  readonly icon: IconName;
  readonly label: string;
  readonly keys?: string;
  readonly pressed?: boolean;
  readonly act: () => void;
}

function Tool({ icon, label, keys, pressed, act }: ToolProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={keys ? `${label} (${keys})` : label}
      aria-pressed={pressed}
      aria-keyshortcuts={keys}
      onClick={act}
    >
      <Icon name={icon} />
    </button>
  );
}
