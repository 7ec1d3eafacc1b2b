// Gives a session's rows other numbers where those are another session's in a database.
import type { RowNumbers } from "@clew/lossless-engine/store";
import type { EngineRow } from "@clew/store-postgres";
import { ROWS_ENGINE } from "./engine-stores.ts";
import type { Known, TakenNumbers } from "./known.ts";
import type { CopyIn } from "./result.ts";

const SESSIONS_AT_A_TIME = 100;

/** A session, and what its home has of it. */
interface Rows {
  agentId: string;
  sessionId: string;
  rows: readonly EngineRow[];
}

/**
 * The rows as they are to be stored. Numbers stay the same where they are free, as answers in
 * transcripts name them.
 */
export async function underFreeNumbers(
  request: Pick<CopyIn, "copy" | "homeId">,
  known: Known,
  session: Rows,
): Promise<{ rows: readonly EngineRow[]; isRenumbered: boolean }> {
  const { copy } = request;
  const { agentId, sessionId, rows } = session;
  const plan = await planNumbers(request, known, session);
  if (plan.kind === "kept") return { rows, isRenumbered: false };
  const { numbersInRows, renumberedRows } = await import("@clew/lossless-engine/store");
  const renumbered = renumberedRows(rows, {
    known: await copy.engineRows({ agentId, sessionId }, ROWS_ENGINE),
    free: {
      conversation: await copy.reserveNumbers("conversation", 1),
      message: await copy.reserveNumbers("message", plan.own.messages.size + 1),
      summary: await copy.reserveNumbers("summary", plan.own.summaries.length + 1),
    },
  });
  noteNumbers(takenIn(known, agentId), sessionId, numbersInRows(renumbered));
  return { rows: renumbered, isRenumbered: true };
}

export type NumbersPlan =
  | { kind: "kept" }
  /** Another session has some of them: all its own are to be others. */
  | { kind: "others"; own: RowNumbers };

/** Changes nothing in the database; numbers that are kept are taken for all that come behind. */
export async function planNumbers(
  { copy, homeId }: Pick<CopyIn, "copy" | "homeId">,
  known: Known,
  { agentId, sessionId, rows }: Rows,
): Promise<NumbersPlan> {
  const others = [...known.byId.values()].filter(
    (each) => each.agentId === agentId && each.sessionId !== sessionId,
  );
  const isAlone = others.every((each) => isOnlyOf(known, homeId, each));
  const isRead = known.taken.has(agentId);
  if (isAlone && !isRead) return { kind: "kept" };
  const { numbersInRows } = await import("@clew/lossless-engine/store");
  const taken = takenIn(known, agentId);
  if (!isRead) {
    for (let at = 0; at < others.length; at += SESSIONS_AT_A_TIME) {
      const sessionIds = others.slice(at, at + SESSIONS_AT_A_TIME).map((each) => each.sessionId);
      const found = await copy.engineRowsOfMany({ agentId, sessionIds, engine: ROWS_ENGINE });
      for (const [id, each] of found) noteNumbers(taken, id, numbersInRows(each));
    }
  }
  const own = numbersInRows(rows);
  if (isTaken(taken, sessionId, own)) return { kind: "others", own };
  noteNumbers(taken, sessionId, own);
  return { kind: "kept" };
}

function takenIn({ taken }: Known, agentId: string): TakenNumbers {
  const numbers = taken.get(agentId) ?? emptyNumbers();
  taken.set(agentId, numbers);
  return numbers;
}

/** Sessions of one home have numbers of their own, unless they went on elsewhere. */
function isOnlyOf(
  { records, everCopied }: Known,
  homeId: string,
  { agentId, sessionId, step }: { agentId: string; sessionId: string; step: number },
): boolean {
  const id = `${agentId}\n${sessionId}`;
  const record = records.get(id);
  return record?.step === step && everCopied.get(id)?.home === homeId;
}

const emptyNumbers = (): TakenNumbers => ({
  ...{ messages: new Map(), conversations: new Map(), summaries: new Map() },
});

function noteNumbers(taken: TakenNumbers, of: string, numbers: RowNumbers): void {
  const { conversation, messages, summaries } = numbers;
  const [first] = messages.values();
  if (conversation !== null) taken.conversations.set(conversation, { of, first });
  for (const [seq, name] of messages) taken.messages.set(seq, { of, name });
  for (const id of summaries) taken.summaries.set(id, { of, conversation });
}

/** Pure. Sessions that tell the same history have its numbers in common. */
function isTaken(
  taken: TakenNumbers,
  sessionId: string,
  { conversation, messages, summaries }: RowNumbers,
): boolean {
  const [first] = messages.values();
  const place = conversation === null ? undefined : taken.conversations.get(conversation);
  if (place !== undefined && place.of !== sessionId && place.first !== first) return true;
  for (const [seq, name] of messages) {
    const other = taken.messages.get(seq);
    if (other !== undefined && other.of !== sessionId && other.name !== name) return true;
  }
  return summaries.some((id) => {
    const other = taken.summaries.get(id);
    return other !== undefined && other.of !== sessionId && other.conversation !== conversation;
  });
}
