// Why a setting was refused, at its own control.

import { useStudio } from "../studio";
import type { Refused } from "../wire";
import { translated } from "../words";

/** What stands at a setting; null where its last value was accepted. */
export function useRefusal(name: string): Refused | null {
  return useStudio().refusals.bySetting.value[name] ?? null;
}

export function RefusalNote({ of: name, id }: { of: string; id?: string }) {
  const refusal = useRefusal(name);
  return refusal ? (
    <p class="refusal" id={id} role="alert" data-refusal={name}>
      {translated(refusal.message)}
    </p>
  ) : null;
}
