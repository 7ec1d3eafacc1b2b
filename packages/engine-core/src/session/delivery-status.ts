// What an engine has not taken of a session, and what it is not offered any more.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { DeliveryRecord, Refusal } from "../delivery-port.ts";
import { isBlocked } from "./delivery-ledger.ts";
import { findPendingTurns } from "./pending-turns.ts";

/** A turn that an engine refused too often. */
export interface BlockedTurn {
  /** Id of its first message. */
  turnId: string;
  /** Times it was offered in vain. */
  attempts: number;
  /** Of the last attempt, for people. */
  reason: string;
}

/** What is left to be told to an engine. */
export interface DeliveryStatus {
  /** Turns it will be offered, the running one included. */
  pending: number;
  /** Turns it is offered no more until somebody asks for it (`retrySession`), or it is upgraded. */
  blocked: readonly BlockedTurn[];
}

/**
 * Pure. `branch` is the whole active one. An engine without a record has been told of nothing, and
 * lacks nothing yet. `version`: the engine's; undefined = not known, every refusal counts.
 */
export function deliveryStatus(
  branch: readonly TranscriptEntry[],
  record: DeliveryRecord | undefined,
  version?: string | null,
): DeliveryStatus {
  const isOver = (refusal: Refusal | undefined) =>
    isBlocked(refusal, version === undefined ? (refusal?.version ?? null) : version);
  const { turns } = findPendingTurns(branch, record, version ?? null);
  const blocked = turns.flatMap(({ id }) => {
    const refusal = record?.refused.get(id);
    if (refusal === undefined || !isOver(refusal)) return [];
    return [{ turnId: id, attempts: refusal.attempts, reason: refusal.reason }];
  });
  return { pending: turns.length - blocked.length, blocked };
}
