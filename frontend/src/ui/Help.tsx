import { keysOf } from "../keyboard";
import { useStudio } from "../studio";
import { t } from "../words";
import { Dialog } from "./Dialog";

export function HelpDialog({ close }: { close: () => void }) {
  const studio = useStudio();
  return (
    <Dialog title={t("How to use the studio")} close={close}>
      {studio.can("drag-begin") ? (
        <p>
          {t(
            "The picture is computed by Python while you watch. Drag any body, while time runs or is held. Every change can be undone, exactly.",
          )}
        </p>
      ) : (
        <p>{t("The picture replays a recorded motion.")}</p>
      )}
      <p>{t("The name of each axis of a plot is a list: choose another variable there.")}</p>
      <table class="keys">
        <tbody>
          {keysOf(studio).map(([keys, does]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{t(keys)}</kbd>
              </th>
              <td>{t(does)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <b>{t("Verdict")}</b>:{" "}
        {t(
          "good, doubtful when the energy of a motion without friction has drifted by more than a hundredth of its size, or failed when a number is no longer finite.",
        )}{" "}
        <b>{t("Energy drift")}</b>: {t("the energy now minus the energy at the last change by hand.")} <b>{t("Clock")}</b>:{" "}
        {t(
          "whether the machine computes as fast as time should run; where it cannot, the motion is slower than asked, and none of it is left out.",
        )}
      </p>
    </Dialog>
  );
}
