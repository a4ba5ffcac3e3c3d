import { keysOf } from "../keyboard";
import { useStudio } from "../studio";
import { Dialog } from "./Dialog";

export function HelpDialog({ close }: { close: () => void }) {
  const studio = useStudio();
  return (
    <Dialog title="How to use the studio" close={close}>
      {studio.can("drag-begin") ? (
        <p>
          The picture is computed by Python while you watch. Drag any body, while time runs or is held; it is let go at rest. Every change
          can be undone, exactly.
        </p>
      ) : (
        <p>The picture replays a recorded motion.</p>
      )}
      <p>The name of each axis of a plot is a list: choose another variable there.</p>
      <table class="keys">
        <tbody>
          {keysOf(studio).map(([keys, does]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{does}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <b>Verdict</b> is good, doubtful when the energy of a motion without friction has drifted by more than a hundredth of its size, or
        failed when a number is no longer finite. <b>Energy drift</b> is the energy now minus the energy at the last change by hand.{" "}
        <b>Clock</b> says when the machine cannot compute as fast as time should run; then the motion is slower than asked, and none of it
        is left out.
      </p>
    </Dialog>
  );
}
