// The ledger of exact names that a compaction freezes beside its summary.
import {
  EMPTY_LEDGER,
  foldLedger,
  type LedgerState,
  renderLedger,
  splitLedger,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";

/** No more than this share of what is summarised: a ledger must not undo what a summary saves. */
const SHARE_OF_SUMMARISED = 0.5;

/**
 * Most tokens of a ledger: within the limits of the window, and smaller than what it helps to
 * replace; an earlier ledger goes with its summary.
 */
export function ledgerRoom(input: {
  limit: number;
  summarisedTokens: number;
  previousTokens: number;
}): number {
  return Math.floor(
    Math.min(input.limit, SHARE_OF_SUMMARISED * input.summarisedTokens + input.previousTokens),
  );
}

/**
 * What is known of a branch's beginning, by the object it was read from: the next compaction
 * folds only what came since.
 */
const known = new WeakMap<object, LedgerState>();

/**
 * The ledger of `entries`, the beginning of a branch. `owner` stands for the session; equal entries
 * give an equal text, whoever asks.
 */
export function ledgerTextOf(
  { covered, ledgerTokens }: { covered: readonly TranscriptEntry[]; ledgerTokens: number },
  owner: object,
): string {
  const before = known.get(owner);
  const goesOn =
    before !== undefined &&
    before.entries > 0 &&
    covered[before.entries - 1]?.id === before.lastEntryId;
  const state = goesOn
    ? foldLedger(before, covered.slice(before.entries))
    : foldLedger(EMPTY_LEDGER, covered);
  known.set(owner, state);
  return renderLedger(state, { maxTokens: ledgerTokens }).text;
}

/** Text of the ledger in an earlier summary; empty when it has none. */
export const ledgerIn = (summary: string | undefined): string =>
  summary === undefined ? "" : splitLedger(summary).ledger;
