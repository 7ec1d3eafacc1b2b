// Says why not all of a call came from the cache of its provider.
import { whyBroke } from "../models/describe-cache.ts";
import type { CallRow } from "./shapes/calls.ts";

/** Pure. Null: nothing is missing. After a pause what changed before the call is a cause, too. */
export function whyUncached({ cache, waste }: Pick<CallRow, "cache" | "waste">): string | null {
  const broke = cache?.broke ?? null;
  if (broke === null) return null;
  const isBoth = broke === "expired" && waste.some(({ cause }) => cause === "broken-prefix");
  return isBoth ? `${whyBroke(broke)}, and the history had changed besides` : whyBroke(broke);
}
