// Decides what a program's model may have seen that nobody here knows.
import { messageId } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { Branch } from "./branch-cursor.ts";
import type { PlacedCall } from "./placed-call.ts";

/** What a program holds besides what is listed. */
export interface Unseen {
  /** Where it is, for people. */
  why: string;
  /** Place on the branch of the first entry that it was told of; what is before it never knew. */
  from: number;
  /** Why it does not know those. */
  before: string;
}

/** Pure. Null: all that the call showed of the session is listed. */
export function planUnseen(
  { call, report }: Pick<PlacedCall, "call" | "report">,
  branch: Pick<Branch, "path" | "placeOf">,
): Unseen | null {
  if (call.harness === undefined || call.held !== undefined) return null;
  const { label = call.harness, cannot = [], projections = [] } = report.execution ?? {};
  const { knowsFrom } = projections.at(-1) ?? {};
  return {
    why: cannot.includes("assemble-before-prompt")
      ? `in the own session of ${label}, which Clew cannot see`
      : isMadeSmaller(report)
        ? `in the thread of ${label}, which made it smaller by itself; Clew cannot see what is left`
        : `in the thread of ${label}, of which the report does not tell`,
    from: knowsFrom === undefined ? 0 : placeOfMessage(knowsFrom, branch),
    before: "it was said before the session of the program began, which knows nothing of it",
  };
}

/** Most messages have the id of their entry. */
function placeOfMessage(id: string, { path, placeOf }: Pick<Branch, "path" | "placeOf">): number {
  const isIt = (entry: TranscriptEntry) =>
    entry.type === "message" && messageId(entry.message) === id;
  return placeOf(id) ?? Math.max(0, path.findLastIndex(isIt));
}

/** Whether a program made the thread of the call smaller, in this turn or before it. */
export const isMadeSmaller = ({ execution }: PlacedCall["report"]): boolean =>
  execution !== undefined &&
  (execution.nativeCompactions > 0 ||
    execution.projections.some(({ isCompacted }) => isCompacted === true));
