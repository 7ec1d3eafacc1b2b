// The record that a compaction freezes beside its summary.
import {
  EMPTY_LEDGER,
  foldLedger,
  type LedgerCheckpoint,
  type LedgerState,
  type RecordParts,
  renderRecord,
  restoreLedger,
  saveLedger,
  type TranscriptEntry,
  withinTokens,
} from "@clew/plugin-sdk/transcript";
import { pinnedText } from "./facts.ts";
import type { SummaryPlan } from "./plan.ts";

/**
 * What is known of a branch's beginning, by the object it was read from: the next compaction
 * folds only what came since.
 */
const known = new WeakMap<object, LedgerState>();

/** Keeps one session's checkpoint; a lost or damaged one costs time and nothing else. */
export interface LedgerKeeper {
  /** What was written last, as JSON gives it back; anything else is none. */
  read(): unknown;
  /** Called once per compaction; need not be durable when it returns. */
  write(checkpoint: LedgerCheckpoint): void;
}

/**
 * Everything code knows of `entries`, the beginning of a branch. `owner` stands for the session;
 * equal entries give an equal state, whoever asks.
 */
export function ledgerOf(
  entries: readonly TranscriptEntry[],
  owner: { ledger?: LedgerKeeper },
): LedgerState {
  const before = known.get(owner) ?? restoreLedger(owner.ledger?.read());
  const goesOn =
    before !== undefined &&
    before.entries > 0 &&
    entries[before.entries - 1]?.id === before.lastEntryId;
  const state = goesOn
    ? foldLedger(before, entries.slice(before.entries))
    : foldLedger(EMPTY_LEDGER, entries);
  known.set(owner, state);
  owner.ledger?.write(saveLedger(state));
  return state;
}

/** The parts of a record that take `share` of their room; the open request is there, always. */
export function recordParts(
  { recordRoom, openRequest, openRequestCut, kept, limits }: SummaryPlan,
  state: LedgerState,
  share = 1,
): RecordParts {
  const { ledger, anchors, pins } = recordRoom;
  const parts = renderRecord(state, {
    room: withinTokens(recordRoom, share * (ledger + anchors + pins)),
    kept,
    ...(openRequestCut && { openRequest }),
  });
  return { ...parts, openRequest: pinnedText(parts.openRequest, limits) };
}
