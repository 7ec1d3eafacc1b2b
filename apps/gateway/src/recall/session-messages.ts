// Which messages of a session can be found and read, by number and by id.
import { messageId } from "@clew/plugin-sdk/core";
import { inSlices } from "@clew/plugin-sdk/host";
import { type MessageEntry, ORIGIN, type TranscriptEntry } from "@clew/plugin-sdk/transcript";

/** In order; the first is number 1. What an entry holds may be read only when it is asked for. */
export type SessionMessages = readonly MessageEntry[];

/** Since the session was last reset. */
export function sessionMessages(branch: readonly TranscriptEntry[]): SessionMessages {
  const reset = branch.findLastIndex(({ type }) => type === "reset");
  return branch.slice(reset + 1).filter((entry) => entry.type === "message");
}

/** The id that stays, however often the message is stored again. */
export const idOf = (entry: MessageEntry): string =>
  entry[ORIGIN] ?? messageId(entry.message) ?? entry.id;

/** Index of a message by "#12", by the id of its entry or by its own; −1 = there is none. */
export async function findMessage(
  messages: SessionMessages,
  name: string,
  signal: AbortSignal,
): Promise<number> {
  const wanted = name.trim().replace(/^@/, "");
  const number = /^#(\d+)$/.exec(wanted)?.[1];
  if (number !== undefined) return Number(number) <= messages.length ? Number(number) - 1 : -1;
  const place = messages.findIndex(({ id }) => id === wanted);
  if (place >= 0) return place;
  let [at, found] = [0, -1];
  const look = (entry: MessageEntry) => {
    if (found < 0 && idOf(entry) === wanted) found = at;
    at++;
  };
  await inSlices(messages, look, { signal });
  return found;
}
