// How people read money that was spent.
import { counted } from "../text/number.ts";
import type { SessionSpent, Spent } from "./totals.ts";

/** A cap, for whom it is, and what was spent of it. */
interface Cap {
  /** For people, as in `of session "main"`. */
  of: string;
  cap: number;
  spent: Spent;
}

/** "$4.12", and as many digits as it takes where it is less than a cent. */
export function dollarsText(dollars: number): string {
  if (dollars === 0) return "$0";
  const digits = dollars >= 0.1 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: digits })}`;
}

/** Of a sum in which some costs are missing. */
export function spentText({ dollars, unknown }: { dollars: number; unknown: number }): string {
  if (unknown === 0) return dollarsText(dollars);
  const calls = unknown === 1 ? "1 call" : `${unknown} calls`;
  if (dollars === 0) return `not known for ${calls}`;
  return `${dollarsText(dollars)}, and ${calls} whose cost is not known`;
}

/** Of a session until now: "$4.12 for 60 model calls, 61 % of the prompts from a cache; cap …". */
export function describeCosts(
  { calls, prompt, fromCache, summariser, ...spent }: SessionSpent,
  caps: readonly Cap[],
): string {
  const share = prompt === 0 ? 0 : Math.round((100 * fromCache) / prompt);
  const sides =
    summariser === 0 ? "" : `; of it ${dollarsText(summariser)} for summaries and the like`;
  const sum =
    calls === 0
      ? "nothing yet"
      : `${spentText(spent)} for ${counted(calls, "model call")} of this session, ${share} % of the prompts from a cache${sides}`;
  return [
    sum,
    ...caps.map(
      (state) =>
        `cap ${state.of}: ${dollarsText(state.spent.dollars)} of ${dollarsText(state.cap)}`,
    ),
  ].join("; ");
}
