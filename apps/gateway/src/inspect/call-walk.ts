// Walks through the calls of a session in order, adding each to the ones before.
import type { ModelCallReport, ReportItem } from "@clew/engine-core";
import type { FileStart } from "../reports/report-lines.ts";
import { type BranchCursor, createBranchCursor } from "./branch-cursor.ts";
import { bridgeGap } from "./bridge-gap.ts";
import type { PricesOf } from "./cost.ts";
import { type CallFold, createCallFold, type TokenReckoning } from "./fold-calls.ts";
import { branchOfCall, moveToCall } from "./one-call.ts";
import { callId, type PlacedCall } from "./placed-call.ts";
import type { EntryFinder } from "./session-source.ts";
import type { CallRow } from "./shapes/calls.ts";
import { createTreatments, type KnownTreatments } from "./treatments.ts";

/** What all walks of one session have in common. */
export interface WalkParts {
  finder: EntryFinder;
  /** The content a report names by a hash; null = it is not stored any more. */
  part: (hash: string) => Promise<string | null>;
  treated: KnownTreatments;
  pricesOf: PricesOf;
  reckoning: TokenReckoning;
  /** What came before the oldest report that is kept. */
  before: () => FileStart;
  /** All messages of calls of which it was found again behind a damaged report, by id. */
  bridged: Map<string, ReportItem[]>;
}

export interface CallWalk {
  readonly cursor: BranchCursor;
  readonly fold: CallFold;
  /** It has to find again what the next call is told as a difference to. */
  readonly isGapped: boolean;
  add(told: PlacedCall): Promise<CallRow>;
  /** A report comes here that nobody can read, or that is gone. */
  miss(isGone: boolean): void;
  /** Its cursor and fold stand where another walk was. */
  standAt(place: Pick<CallWalk, "isGapped">): void;
}

export function createCallWalk(parts: WalkParts): CallWalk {
  const { finder, part, treated, pricesOf, reckoning, bridged } = parts;
  const cursor = createBranchCursor(finder.find);
  const treatments = createTreatments(part, cursor, treated);
  const fold = createCallFold(cursor, pricesOf, reckoning);
  /** Knows which call came before its first one. */
  let isBegun = false;
  let isGapped = false;

  /** The first call that is kept follows the last one that was let go. */
  const begin = async ({ report }: PlacedCall) => {
    const before = parts.before();
    if (before.turns === 0) return;
    const { promptEntryId } = report;
    await finder.ensure([before.leafId ?? null, promptEntryId]);
    const isMoved = before.leafId !== undefined && cursor.moveTo(before.leafId) !== undefined;
    // Where nobody knows, nothing is told but what its own turn did.
    if (!isMoved && promptEntryId !== null)
      cursor.moveTo(finder.find(promptEntryId)?.parentId ?? null);
    fold.goOn(before.turns);
  };

  const behindGap = async (placed: PlacedCall): Promise<PlacedCall> => {
    const branch = await branchOfCall(finder, cursor, placed, () => placed.call.messages.items);
    const all = bridgeGap({ placed, before: fold.sent.items, path: branch.path });
    if (all === null) return placed;
    isGapped = false;
    bridged.set(callId(placed), all);
    return withList(placed, { kept: 0, items: all });
  };

  return {
    ...{ cursor, fold },
    get isGapped() {
      return isGapped;
    },
    async add(told) {
      const placed = isGapped ? await behindGap(told) : told;
      const { kept, items } = placed.call.messages;
      const messages = () => fold.sent.items.slice(0, kept).concat(items);
      if (!isBegun) {
        isBegun = true;
        await begin(placed);
      }
      const stayed = await moveToCall(finder, cursor, placed, messages);
      return fold.add({ placed, kept: stayed, treat: await treatments.of(placed, items, kept) });
    },
    miss(isGone) {
      fold.miss(isGone);
      isGapped = true;
    },
    standAt(place) {
      isBegun = true;
      ({ isGapped } = place);
    },
  };
}

/** The call with this list of messages in place of the one that was told. */
export const withList = (
  placed: PlacedCall,
  list: Pick<ModelCallReport["messages"], "kept" | "items">,
): PlacedCall => ({
  ...placed,
  call: { ...placed.call, messages: { ...placed.call.messages, ...list } },
});
