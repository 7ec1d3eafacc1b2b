// Takes the newest turn of an open session back, which stays in its file.
import type { SessionState } from "@clew/engine-core";
import type { UserBlock } from "@clew/plugin-sdk/core";
import { otherSessionOf, placeEntry, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { CompactableSession } from "./open.ts";

/** Stands on the branch where a turn was taken back. */
const TURN_UNDO = "clew:undo";

/** The leaf that the branch had before, where `entry` marks that a turn was taken back. */
export function leafBeforeUndo(entry: TranscriptEntry): string | null {
  if (entry.type !== "custom" || entry.customType !== TURN_UNDO) return null;
  const { leafId } = (entry.data ?? {}) as { leafId?: unknown };
  return typeof leafId === "string" ? leafId : null;
}

/** True: no command took it back, but a client that asked again or went on without it. */
export const isByClient = (entry: TranscriptEntry): boolean =>
  entry.type === "custom" &&
  leafBeforeUndo(entry) !== null &&
  (entry.data as { by?: unknown }).by === BY_CLIENT;

const BY_CLIENT = "client";

/** What was said in it; null: there is none, or what came after it cannot be taken back with it. */
export type UndoneTurn = { content: string | UserBlock[] } | null;

export interface LastTurn {
  /** How many entries come before it. */
  keep: number;
  content: string | UserBlock[];
}

/** Pure. What a summary or a reset came after stays. */
export function planUndoTurn(branch: readonly TranscriptEntry[]): LastTurn | null {
  const keep = branch.findLastIndex(
    (entry) =>
      entry.type === "compaction" ||
      entry.type === "reset" ||
      (entry.type === "message" && entry.message.role === "user"),
  );
  const entry = branch[keep];
  if (entry?.type !== "message" || entry.message.role !== "user") return null;
  const { message } = entry;
  const isPersons = otherSessionOf(message) === undefined && message.__openclaw?.kind === undefined;
  return isPersons ? { keep, content: message.content as string | UserBlock[] } : null;
}

/** Throws TRANSCRIPT_MOVED and STORAGE_FAILED, and nothing is changed then. */
export async function undoLastTurn(conversation: {
  session: CompactableSession;
  state: SessionState;
}): Promise<UndoneTurn> {
  const planned = planUndoTurn(conversation.session.compaction.branch());
  if (planned === null) return null;
  await takeBackBehind(conversation, planned.keep);
  return { content: planned.content };
}

/**
 * What follows the first `keep` entries of the branch stays in the file alone. `by`: whose doing it
 * is; absent: a command's.
 */
export async function takeBackBehind(
  {
    session: { compaction },
    state,
  }: { session: Pick<CompactableSession, "compaction">; state: SessionState },
  keep: number,
  by?: typeof BY_CLIENT,
): Promise<void> {
  const branch = compaction.branch();
  const leafId = branch.at(-1)!.id;
  const place = {
    id: compaction.nextId(),
    parentId: branch[keep - 1]?.id ?? null,
    timestamp: new Date().toISOString(),
  };
  const data = { leafId, ...(by !== undefined && { by }) };
  const mark = { type: "custom", customType: TURN_UNDO, data } as const;
  await compaction.graft({ keep, leafId, entries: [placeEntry(mark, place)] });
  // What the provider measured was of another history.
  state.measurement = undefined;
}
