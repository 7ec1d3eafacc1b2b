// Says in a line for hosts how a database stands and what of it is damaged.

import { counted, describeStore } from "../operating/describe-store.ts";
import { damageOf, examine } from "../operating/examination.ts";
import type { Store } from "../store/store.ts";

/** Hosts ask in passing: some hundred thousand short messages are read in this time. */
const CHECK_MS = 1000;

/** False: something cannot be read. */
export async function checkStore(store: Store): Promise<{ ok: boolean; text: string }> {
  const examined = await examine(store, { withinMs: CHECK_MS });
  const damage = damageOf(examined);
  if (damage.length > 0)
    return {
      ok: false,
      text: `${damage.join("; ")} (in ${store.path}); "/lossless doctor" says what to do`,
    };
  const line = await describeStore(store);
  return {
    ok: true,
    text: examined.isAll
      ? `${line}; all of it can be read`
      : `${line}; the first ${counted(examined.read, "message")} can be read, "/lossless doctor" reads all`,
  };
}
