// Answers arguments that name or walk summaries.
import { patiently } from "../patiently.ts";
import type { Scope } from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import { summaryById } from "../store/summaries.ts";
import type { StoredSummary } from "../store/summary-rows.ts";
import { summaryIdIn } from "./describe-past.ts";
import { nameShown } from "./quoted.ts";

/** Of tools that look into summaries. */
export const SUMMARY_PARAMETERS = {
  summaryIds: {
    type: "array",
    items: { type: "string" },
    description: 'Only what these summaries ("sum_…") stand for.',
  },
} as const;

/** Arguments that name or walk summaries. */
export interface SummaryArguments {
  readonly summaryIds?: readonly string[] | undefined;
  readonly maxDepth?: number | undefined;
  readonly includeMessages?: boolean | undefined;
}

/** The summaries of these ids, and one line for each id that is none here. */
export async function summariesNamed(
  store: Store,
  { summaryIds = [] }: SummaryArguments,
  { scope, signal }: { scope: Scope; signal?: AbortSignal | undefined },
): Promise<{ summaries: StoredSummary[]; notes: string[] }> {
  const summaries: StoredSummary[] = [];
  const notes: string[] = [];
  for (const name of summaryIds) {
    const id = summaryIdIn(name);
    const found =
      id === undefined ? undefined : await patiently(() => summaryById(store, scope, id), signal);
    if (found !== undefined) summaries.push(found);
    else notes.push(`There is no summary ${nameShown(name.slice(0, 100))} here.`);
  }
  return { summaries, notes };
}

/** One line for each that has no effect. */
export function withoutEffect({ maxDepth, includeMessages }: SummaryArguments): string[] {
  return [
    ...(maxDepth === undefined
      ? []
      : ["maxDepth: one step at a time is shown, with the ids of the next; it was left out."]),
    ...(includeMessages === false
      ? ["includeMessages: what is found here is messages, so they are shown."]
      : []),
  ];
}
