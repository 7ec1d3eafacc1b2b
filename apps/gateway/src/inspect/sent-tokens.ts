// What a call adds to sums of what was sent.
import type { CallRow } from "./shapes/calls.ts";

/**
 * Pure. Of a call without an answer only what its provider counted: what was refused, no model has
 * read and nobody bills, so no sum holds it, neither of a turn, a session nor what was spent. Its
 * own row tells how large it was.
 */
export const sentTokens = ({
  tokens,
  isCounted,
  error,
}: Pick<CallRow, "tokens" | "isCounted" | "error">): number =>
  isCounted || error === null ? tokens.total : 0;
