// Why a setting was refused, at its own control.

import { useStudio } from "../studio";
import type { Fault } from "../wire";
import { translated } from "../words";

/** What stands at a setting; null where its value is accepted. */
export function useRefusal(name: string): Fault | null {
  return useStudio().wrongWith(name);
}

export function RefusalNote({ of: name, id }: { of: string; id?: string }) {
  const refusal = useRefusal(name);
  return refusal ? (
    <p class="refusal" id={id} role="alert" data-refusal={name}>
      {translated(refusal.message)}
    </p>
  ) : null;
}
