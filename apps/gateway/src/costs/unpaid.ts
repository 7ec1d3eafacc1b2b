// Says of costs that were never paid what they are.
import type { Usage } from "./usage.ts";

/** A sentence for each kind of session for which no model was asked. */
export const UNPAID = {
  demo: "Nothing of this was paid: it is what the demo would have cost.",
  replayed: "Nothing of this was paid: it is what the replayed calls would have cost.",
} as const satisfies Record<NonNullable<Usage["unpaid"]>, string>;
