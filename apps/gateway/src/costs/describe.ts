// How people read money that was spent.
import { counted } from "../text/number.ts";
import type { SessionSpent, Spent } from "./totals.ts";
import type { WasteByCause } from "./usage.ts";

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

/** What somebody set, to the last digit: rounded it would be another cap. */
export function capText(dollars: number): string {
  const digits = (/\.(\d+)$/.exec(dollars.toFixed(8).replace(/0+$/, ""))?.[1] ?? "").length;
  return `$${dollars.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: Math.max(2, digits) })}`;
}

/** What was spent of a cap; what is not reached yet never reads so. */
export function ofCapText(spent: number, cap: number): string {
  const digits = Math.max(2, (capText(cap).split(".")[1] ?? "").length);
  const unit = 10 ** digits;
  const rounded = Math.round(spent * unit) / unit;
  const isMisleading = spent < cap && rounded >= cap;
  const told = isMisleading ? Math.floor(spent * unit + 1e-6) / unit : rounded;
  return `$${told.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: digits })}`;
}

/** Of a sum in which some costs are missing. */
export function spentText({ dollars, unknown }: { dollars: number; unknown: number }): string {
  if (unknown === 0) return dollarsText(dollars);
  const calls = unknown === 1 ? "1 call" : `${unknown} calls`;
  if (dollars === 0) return `not known for ${calls}`;
  return `${dollarsText(dollars)}, and ${calls} whose cost is not known`;
}

const CAUSES = {
  brokenPrefix: "cache lost",
  afterPause: "after a pause",
  resent: "sent again",
  overFull: "too large a call",
} as const satisfies Record<keyof WasteByCause, string>;

/** "; for nothing $0.12 (cache lost), $0.03 (after a pause)"; "" where nothing was. */
function wasteText(waste: WasteByCause): string {
  const causes = Object.entries(CAUSES).flatMap(([cause, what]) => {
    const { calls, dollars } = waste[cause as keyof WasteByCause];
    return calls === 0 ? [] : [`${dollarsText(dollars)} (${what})`];
  });
  return causes.length === 0 ? "" : `; for nothing ${causes.join(", ")}`;
}

/** What so many calls came to. */
export function sumText(spent: { dollars: number; unknown: number }, calls: number): string {
  const of = counted(calls, "model call");
  if (isSum(spent)) return `${spentText(spent)} for ${of}`;
  return spent.unknown === calls
    ? `not known for ${of}`
    : `not known for ${spent.unknown} of ${of}`;
}

/** False: `sumText` names no sum. */
export const isSum = ({ dollars, unknown }: { dollars: number; unknown: number }): boolean =>
  dollars > 0 || unknown === 0;

/** Of calls of which nobody knows what they came to; "" where there are none. */
export function unendedText({ unended }: { unended: number }): string {
  if (unended === 0) return "";
  const [is, it] = unended === 1 ? ["is", "it"] : ["are", "they"];
  return `; ${counted(unended, "more call")} ${is} not in it: ${it} began, and how ${it} ended is not written down`;
}

/** Of a session until now: "$4.12 for 60 model calls, 61 % of the prompts from a cache; cap …". */
export function describeCosts(
  { modelCalls, prompt, fromCache, summariser, waste, unended, ...spent }: SessionSpent,
  caps: readonly Cap[],
): string {
  const share = prompt === 0 ? 0 : Math.round((100 * fromCache) / prompt);
  const sides =
    summariser === 0 ? "" : `; of it ${dollarsText(summariser)} for summaries and the like`;
  const sum =
    modelCalls === 0
      ? "nothing yet"
      : `${unended > 0 && isSum(spent) ? "at least " : ""}${sumText(spent, modelCalls)} of this session, ${share} % of the prompts from a cache${sides}${wasteText(waste)}${unendedText({ unended })}`;
  return [
    sum,
    ...caps.map(
      (state) =>
        `cap ${state.of}: ${ofCapText(state.spent.dollars, state.cap)} of ${capText(state.cap)}`,
    ),
  ].join("; ");
}
