// Which turns of a branch an engine has not acknowledged yet.
import { messageId } from "@clew/plugin-sdk/core";
import type { MessageEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { DeliveryRecord } from "../ports.ts";
import { isBlocked } from "./delivery-ledger.ts";

/** One turn of the active branch, from its user entry to the last entry before the next. */
export interface PendingTurn {
  /** Id of its first message. */
  id: string;
  /** Whether the person, a heartbeat or a schedule began it. */
  kind: "user" | "heartbeat" | "cron";
  /** All of its messages, oldest first. */
  entries: readonly MessageEntry[];
  /** Ids of those the engine has not acknowledged. */
  fresh: ReadonlySet<string>;
  /** Position of the first entry on the branch, and among its messages. */
  rawSeq: number;
  messagePosition: number;
  /** Times the engine refused it. */
  attempts: number;
  /** Refused too often: not offered any more. */
  blocked: boolean;
}

/** Where the last look at a branch can be taken up: everything before was acknowledged. */
export interface PendingScan {
  /** Leading entries that need no second look. */
  settled: number;
  /** Id of the last of them. */
  lastId: string | undefined;
  /** Messages among them. */
  messages: number;
}

export const FRESH_SCAN: PendingScan = { settled: 0, lastId: undefined, messages: 0 };

/** Nothing is pending for an engine that has no record yet. */
export function findPendingTurns(
  branch: readonly TranscriptEntry[],
  record: DeliveryRecord | undefined,
  version: string | null,
  before: PendingScan = FRESH_SCAN,
): { turns: PendingTurn[]; scan: PendingScan } {
  if (record === undefined) return { turns: [], scan: FRESH_SCAN };
  const start = branch[before.settled - 1]?.id === before.lastId ? before : FRESH_SCAN;
  const turns = turnsFrom(branch, start, record, version);
  // A parked turn stays in sight: somebody may ask for another attempt.
  const open = turns.findIndex(({ fresh }) => fresh.size > 0);
  // The last turn may still grow, so it is looked at again.
  const resume = turns[open < 0 ? turns.length - 1 : open];
  const scan: PendingScan =
    resume === undefined
      ? start
      : {
          settled: resume.rawSeq,
          lastId: branch[resume.rawSeq - 1]?.id,
          messages: resume.messagePosition,
        };
  return { turns: turns.filter(({ fresh }) => fresh.size > 0), scan };
}

function turnsFrom(
  branch: readonly TranscriptEntry[],
  { settled, messages }: PendingScan,
  record: DeliveryRecord,
  version: string | null,
): PendingTurn[] {
  const turns: (PendingTurn & { entries: MessageEntry[]; fresh: Set<string> })[] = [];
  let position = messages;
  for (let rawSeq = settled; rawSeq < branch.length; rawSeq++) {
    const entry = branch[rawSeq]!;
    if (entry.type !== "message") continue;
    const id = messageId(entry.message) ?? entry.id;
    if (entry.message.role === "user" || turns.length === 0)
      turns.push({
        id,
        kind: kindOf(entry),
        entries: [],
        fresh: new Set(),
        rawSeq,
        messagePosition: position,
        attempts: attemptsOf(record, id, version),
        blocked: isBlocked(record.refused.get(id), version),
      });
    const turn = turns.at(-1)!;
    turn.entries.push(entry);
    if (!record.acknowledged.has(id)) turn.fresh.add(id);
    position++;
  }
  return turns;
}

/** Another version of the engine starts anew. */
function attemptsOf({ refused }: DeliveryRecord, id: string, version: string | null): number {
  const refusal = refused.get(id);
  return refusal?.version === version ? refusal.attempts : 0;
}

/** Who began the turn stands on its first message, so that it holds for ever. */
function kindOf({ message }: MessageEntry): PendingTurn["kind"] {
  const kind = message.__openclaw?.kind;
  return kind === "heartbeat" || kind === "cron" ? kind : "user";
}
