// Tells of a turn what is stored of it, where nobody remembers what was told.
import type { TurnEvent } from "@clew/engine-core";
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { roleIn, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { Ending } from "../events/ending.ts";
import type { SessionViews } from "./session-views.ts";
import { messageEvent } from "./streamed-turn.ts";

export interface StoredTurn {
  /** In order. */
  messages: Extract<TurnEvent, { type: "message" }>[];
  ending: Ending;
}

/** Pure. Undefined: its prompt is not there. */
export function storedTurn(
  branch: readonly TranscriptEntry[],
  promptId: string,
): StoredTurn | undefined {
  const at = branch.findIndex(({ id }) => id === promptId);
  if (at < 0) return undefined;
  const turn: TranscriptEntry[] = [];
  for (const entry of branch.slice(at + 1)) {
    if (roleIn(entry) === "user" && !isMidTurn(turn)) break;
    turn.push(entry);
  }
  return { messages: turn.flatMap(messageEvent), ending: endingOfStored(turn) };
}

/** Pure. What follows an entry, up to another one; undefined: it is not there. */
export function storedBehind(
  branch: readonly TranscriptEntry[],
  entryId: string,
  before: string | undefined,
): StoredTurn | undefined {
  const at = branch.findIndex(({ id }) => id === entryId);
  if (at < 0) return undefined;
  const end = before === undefined ? -1 : branch.findIndex(({ id }) => id === before);
  const behind = branch.slice(at + 1, end < 0 ? undefined : end);
  return { messages: behind.flatMap(messageEvent), ending: endingOfStored(branch) };
}

/** What is stored of sessions, for those who are told of their turns. */
export interface StoredTurns {
  /** Of the turn of a prompt. */
  turn(key: string, promptId: string): Promise<StoredTurn>;
  /** Behind an entry; `before`: the first one that is told otherwise, asked when all is read. */
  behind(
    key: string,
    entryId: string | null,
    before: () => string | undefined,
  ): Promise<StoredTurn | undefined>;
}

export function storedTurns({ session }: Pick<SessionViews, "session">): StoredTurns {
  const branchOf = async (key: string) => (await session(key))?.branch ?? [];
  return {
    turn: async (key, promptId) =>
      storedTurn(await branchOf(key), promptId) ?? { messages: [], ending: endingOfStored([]) },
    async behind(key, entryId, before) {
      if (entryId === null) return undefined;
      const branch = await branchOf(key);
      return storedBehind(branch, entryId, before());
    },
  };
}

/** Pure. How the last turn of these entries ended, as far as they tell. */
function endingOfStored(entries: readonly TranscriptEntry[]): Ending {
  const last = entries.findLast(({ type }) => type === "message");
  const reply = assistantIn(last);
  if (last === undefined || reply === undefined || reply.stopReason === "toolUse")
    return { ...NO_REPLY, replyEntryId: null };
  const { stopReason, errorMessage = "The reply broke off." } = reply;
  const told = { turnId: null, replyEntryId: last.id, stopReason };
  if (stopReason === "aborted")
    return { ...told, outcome: "aborted", error: { kind: "aborted", message: errorMessage } };
  if (stopReason === "error")
    return { ...told, outcome: "failed", error: { kind: "host", message: errorMessage } };
  return { ...told, outcome: "completed", error: null };
}

const NO_REPLY = {
  outcome: "failed",
  error: {
    kind: "host",
    message: "The gateway ended before the reply was there; say it again to get one.",
  },
  turnId: null,
} as const;

/** A person says something in the midst of a turn behind results of tools only. */
const isMidTurn = (turn: readonly TranscriptEntry[]): boolean => {
  const last = turn.findLast(({ type }) => type === "message");
  return last !== undefined && roleIn(last) !== "assistant";
};

const assistantIn = (entry: TranscriptEntry | undefined): AssistantMessage | undefined =>
  entry?.type === "message" && entry.message.role === "assistant" ? entry.message : undefined;
