import { useEffect, useRef, useState } from "preact/hooks";
import { writeFragment } from "../encode";
import { useStudio } from "../studio";
import { Dialog } from "./Dialog";

/** A link to the state of this moment, which the address bar then shows too. */
export function ShareDialog({ close }: { close: () => void }) {
  const studio = useStudio();
  const box = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState("");
  useEffect(() => {
    studio.shared.value = null;
    studio.send({ type: "share" });
  }, []);
  const document = studio.shared.value;
  const lab = studio.lab.value?.name ?? "";
  const address = document === null ? "" : new URL(writeFragment(lab, document), location.href).href;
  useEffect(() => {
    if (address) history.replaceState(null, "", address);
  }, [address]);
  const copy = async (): Promise<void> => {
    box.current?.select();
    try {
      await navigator.clipboard.writeText(address);
      setSaid("Copied.");
    } catch {
      setSaid("The browser does not let the page copy: the link is marked, press Ctrl C.");
    }
  };
  return (
    <Dialog title="Share this state" close={close}>
      <p>
        The link holds the whole state: settings, time, positions and velocities, to the last bit. Whoever runs the studio can open it; the
        part from # on is all that matters.
      </p>
      <div class="share">
        <input
          ref={box}
          type="text"
          readOnly
          value={address}
          aria-label="Link to this state"
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" class="plain" disabled={!address} onClick={() => void copy()}>
          Copy
        </button>
      </div>
      <p role="status">{said}</p>
    </Dialog>
  );
}
