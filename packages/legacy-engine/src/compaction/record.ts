// The record that a compaction freezes beside its summary.
import { pause, stepsInSlices } from "@clew/plugin-sdk/host";
import {
  EMPTY_LEDGER,
  foldLedgerInSlices,
  type LedgerCheckpoint,
  type LedgerState,
  type RecordParts,
  recordSteps,
  restoreSteps,
  saveLedger,
  type TranscriptEntry,
  withinTokens,
} from "@clew/plugin-sdk/transcript";
import { pinnedText } from "./facts.ts";
import type { SummaryPlan } from "./plan.ts";
import { requestRoomFor } from "./record-room.ts";

/**
 * What is known of a branch's beginning, by the object it was read from: the next compaction
 * folds only what came since.
 */
const known = new WeakMap<object, LedgerState>();

/** Keeps one session's checkpoint; a lost or damaged one costs time and nothing else. */
export interface LedgerKeeper {
  /** What was written last, as JSON gives it back; anything else is none. Must not fail. */
  read(): unknown;
  /** Called once per compaction, and awaited; need not be durable then. Must not fail. */
  write(checkpoint: LedgerCheckpoint): void | Promise<void>;
}

/**
 * Everything code knows of `entries`, the beginning of a branch, in slices. `owner` stands for the
 * session; equal entries give an equal state, whoever asks. Rejects with the reason of an abort.
 */
export async function ledgerOf(
  entries: readonly TranscriptEntry[],
  owner: { ledger?: LedgerKeeper },
  signal?: AbortSignal,
): Promise<LedgerState> {
  const before = known.get(owner) ?? (await restored(owner, signal));
  const goesOn =
    before !== undefined &&
    before.entries > 0 &&
    entries[before.entries - 1]?.id === before.lastEntryId;
  const start = goesOn ? before : EMPTY_LEDGER;
  const state = await foldLedgerInSlices(start, entries.slice(start.entries), { signal });
  known.set(owner, state);
  await pause(signal);
  await owner.ledger?.write(saveLedger(state));
  return state;
}

/** Some megabytes of JSON are read, and then checked, one by one. */
async function restored(
  { ledger }: { ledger?: LedgerKeeper },
  signal: AbortSignal | undefined,
): Promise<LedgerState | undefined> {
  const saved = await ledger?.read();
  await pause(signal);
  return stepsInSlices(restoreSteps(saved), { signal });
}

/**
 * The parts of a record that take `share` of their room, in slices; the open request is there,
 * always.
 */
export async function recordParts(
  plan: SummaryPlan,
  state: LedgerState,
  { share = 1, signal }: { share?: number; signal: AbortSignal | undefined },
): Promise<RecordParts> {
  const { recordRoom, openRequest, openRequestCut, kept, reader } = plan;
  const { ledger, anchors, pins } = recordRoom;
  const steps = recordSteps(state, {
    room: withinTokens(recordRoom, share * (ledger + anchors + pins)),
    kept,
    readable: reader !== undefined,
    ...(openRequestCut && { openRequest }),
  });
  const parts = await stepsInSlices(steps, { signal });
  return {
    ...parts,
    ...(openRequestCut &&
      openRequest !== undefined && { openRequest: pinnedText(openRequest, requestRoomFor(plan)) }),
  };
}
