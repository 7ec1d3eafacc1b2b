// Decides what in a stored result says that a person did not want the call.
import type { ToolResultMessage } from "@clew/plugin-sdk/core";
import type { ApprovalEnd } from "./approval.ts";

/** In the details of the result, which no model sees. */
const REFUSED = { refused: true } as const;

/** Pure. What a result has besides its text once nobody allowed the call. */
export const detailsOfEnd = (end: ApprovalEnd): { details?: typeof REFUSED } =>
  end.kind === "answered" && end.answer === "no" ? { details: REFUSED } : {};

export type ToolEnd = "done" | "failed" | "refused";

/** Pure. What became of the call. */
export function toolEndOf({
  isError,
  details,
}: Pick<ToolResultMessage, "isError" | "details">): ToolEnd {
  if (!isError) return "done";
  return (details as Partial<typeof REFUSED> | null | undefined)?.refused === true
    ? "refused"
    : "failed";
}
