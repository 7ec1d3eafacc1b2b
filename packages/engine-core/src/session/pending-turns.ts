// Which turns of a branch an engine has not acknowledged yet.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { isBlocked, type KnownDeliveries } from "./delivery-ledger.ts";
import { FRESH_SCAN, type PendingScan, settledScan } from "./settled-scan.ts";
import { messageIn, type ToldMessage } from "./told-messages.ts";

/**
 * One turn of the active branch, from its user entry to the last message before the next. Notes
 * (what neither person nor model nor tool said) belong to what is said after them, so that those
 * between two turns come before the later one: a turn that was taken does not grow by a note.
 */
export interface PendingTurn {
  /** Id of the message it began with. */
  id: string;
  /** Whether the person, a heartbeat or a schedule began it. */
  kind: "user" | "heartbeat" | "cron";
  /** Notes that came before it. */
  notes: readonly ToldMessage[];
  /** All of its messages, oldest first. */
  messages: readonly ToldMessage[];
  /** Ids of those the engine has not acknowledged, notes included. */
  fresh: ReadonlySet<string>;
  /** Times the engine refused it. */
  attempts: number;
  /** Refused too often: not offered any more. */
  blocked: boolean;
}

/** Nothing is pending for an engine that has no record yet. */
export function findPendingTurns(
  branch: readonly TranscriptEntry[],
  record: KnownDeliveries | undefined,
  version: string | null,
  before: PendingScan = FRESH_SCAN,
): { turns: PendingTurn[]; scan: PendingScan } {
  if (record === undefined) return { turns: [], scan: FRESH_SCAN };
  const goesOn = before.settled > 0 && branch[before.settled - 1]?.id === before.lastId;
  const start = goesOn ? before : settledScan(branch, record);
  const turns = turnsFrom(branch, start, record, version);
  // A parked turn stays in sight: somebody may ask for another attempt.
  const open = turns.findIndex(({ fresh }) => fresh.size > 0);
  // The last turn may still grow, so it is looked at again.
  const resume = turns[open < 0 ? turns.length - 1 : open];
  return {
    turns: turns.filter(({ fresh }) => fresh.size > 0),
    scan: resume === undefined ? start : scanFrom(branch, resume),
  };
}

function scanFrom(branch: readonly TranscriptEntry[], turn: PendingTurn): PendingScan {
  const { rawSeq, position } = (turn.notes[0] ?? turn.messages[0])!;
  return { settled: rawSeq, lastId: branch[rawSeq - 1]?.id, messages: position };
}

interface OpenTurn extends PendingTurn {
  messages: ToldMessage[];
  fresh: Set<string>;
}

/** Roles of person, model and tools; `custom`, `bashExecution` and the like are notes. */
const SAYING: ReadonlySet<AgentMessage["role"]> = new Set(["user", "assistant", "toolResult"]);

function turnsFrom(
  branch: readonly TranscriptEntry[],
  { settled, messages }: PendingScan,
  record: KnownDeliveries,
  version: string | null,
): PendingTurn[] {
  const turns: OpenTurn[] = [];
  let notes: ToldMessage[] = [];
  let position = messages;
  for (let rawSeq = settled; rawSeq < branch.length; rawSeq++) {
    const entry = branch[rawSeq]!;
    const held = messageIn(entry);
    if (held === undefined) continue;
    const told: ToldMessage = { id: held.id, message: held.message, entry, rawSeq, position };
    position++;
    if (entry.type !== "message" || !SAYING.has(told.message.role)) {
      notes.push(told);
      continue;
    }
    if (told.message.role === "user" || turns.length === 0)
      turns.push(beginTurn(told, notes, record, version));
    else turns.at(-1)!.messages.push(...notes, told);
    const { fresh } = turns.at(-1)!;
    for (const { id } of [...notes, told]) if (!record.acknowledged.has(id)) fresh.add(id);
    notes = [];
  }
  return turns;
}

function beginTurn(
  told: ToldMessage,
  notes: readonly ToldMessage[],
  record: KnownDeliveries,
  version: string | null,
): OpenTurn {
  const { id } = told;
  return {
    id,
    kind: kindOf(told.message),
    notes,
    messages: [told],
    fresh: new Set(),
    attempts: attemptsOf(record, id, version),
    blocked: isBlocked(record.refused.get(id), version),
  };
}

/** Another version of the engine starts anew. */
function attemptsOf({ refused }: KnownDeliveries, id: string, version: string | null): number {
  const refusal = refused.get(id);
  return refusal?.version === version ? refusal.attempts : 0;
}

/** Who began the turn stands on its first message, so that it holds for ever. */
function kindOf(message: AgentMessage): PendingTurn["kind"] {
  const kind = message.__openclaw?.kind;
  return kind === "heartbeat" || kind === "cron" ? kind : "user";
}
