import { useEffect, useRef, useState } from "preact/hooks";
import { toLink, writeFragment } from "../encode";
import { useStudio } from "../studio";
import { t } from "../words";
import { isNewLink } from "../work";
import { Dialog } from "./Dialog";

/** A link to the state of this moment, which the address bar then shows too. */
export function ShareDialog({ close }: { close: () => void }) {
  const studio = useStudio();
  const box = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState("");
  useState(() => {
    // Before anything is shown: the last document was kept for a reload, and is of an earlier moment.
    studio.shared.value = null;
  });
  const document = studio.shared.value?.document ?? null;
  const wanted = document === null && studio.link.value.state === "open";
  const current = studio.controls.value?.current.shared;
  useEffect(() => {
    if (wanted) studio.send({ type: "share" });
  }, [wanted, current]);
  const lab = studio.lab.value?.name ?? "";
  const address = document === null ? "" : new URL(writeFragment(lab, document), location.href).href;
  useEffect(() => {
    if (!address) return;
    isNewLink(lab, toLink(document!)); // a reload goes on from what is done after this
    history.replaceState(null, "", address);
  }, [address]);
  const copy = async (): Promise<void> => {
    box.current?.select();
    try {
      await navigator.clipboard.writeText(address);
      setSaid(t("Copied."));
    } catch {
      setSaid(t("The browser does not let the page copy: the link is marked, press Ctrl C."));
    }
  };
  return (
    <Dialog title={t("Share this state")} close={close}>
      <p>
        {t(
          "The link holds the whole state: settings, time, positions and velocities, to the last bit. Whoever runs the studio can open it; the part from # on is all that matters.",
        )}
      </p>
      <div class="share">
        <input
          ref={box}
          type="text"
          readOnly
          value={address}
          aria-label={t("Link to this state")}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" class="plain" disabled={!address} onClick={() => void copy()}>
          {t("Copy")}
        </button>
      </div>
      <p role="status">{said}</p>
    </Dialog>
  );
}
