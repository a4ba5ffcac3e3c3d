/** Whether a motion can be believed: the same words and the same limit as the certificate of a run in Python. */
import type { CertificateView, Frame, LabView } from "./wire";
import { t } from "./words";

export interface Verdict {
  readonly word: "–" | "good" | "doubtful" | "failed";
  /** One sentence; empty for a good motion. */
  readonly reason: string;
}

type Seen = Pick<Frame, "drift" | "energy"> & { readonly time?: number };

/** The verdict on a frame. The drift is compared with the energy at the start of the motion and the kinetic energy now. */
export function verdictOn(
  frame: Seen | null | undefined,
  view: Pick<LabView, "energies">,
  certificate: (Pick<CertificateView, "drift_limit"> & { readonly known_until?: number | null }) | null | undefined,
): Verdict {
  if (!frame || !certificate) return { word: "–", reason: "" };
  const value = (index: number) => (index < 0 ? 0 : (frame.energy[index] ?? 0));
  const total = value(view.energies.findIndex((energy) => energy.total));
  const kinetic = value(view.energies.findIndex((energy) => energy.name === "kinetic"));
  if (!Number.isFinite(frame.drift)) return { word: "failed", reason: t("The energy became infinite or not a number.") };
  const known = certificate.known_until ?? null;
  if (known !== null && frame.time !== undefined && frame.time > known) {
    const reason = t("From t = {} on small errors have grown until this is one of many possible motions.", known.toPrecision(4));
    return { word: "doubtful", reason };
  }
  const limit = certificate.drift_limit;
  const scale = Math.max(Math.abs(total - frame.drift), Math.abs(kinetic));
  if (limit === null || Math.abs(frame.drift) <= limit * scale) return { word: "good", reason: "" };
  const reason =
    scale > 0
      ? t(
          "The energy of a conservative system drifted by {} times its size. Reduce the step.",
          (Math.abs(frame.drift) / scale).toPrecision(2),
        )
      : t("The energy of a conservative system drifted by all of its size. Reduce the step.");
  return { word: "doubtful", reason };
}
