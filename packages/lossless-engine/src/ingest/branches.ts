// Notices by a history's end that its session left a branch, or came back to one.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { askedIn, branchChange, markJoined, markLeft } from "../store/left.ts";
import type { Store } from "../store/store.ts";
import { READER } from "../summaries/facts.ts";

/** Messages that are looked at, at once. */
const BATCH = 32;

/** `newest`: the name of the newest of `messages` that was stored before. */
export async function noteBranch(
  store: Store,
  {
    session,
    messages,
    newest,
  }: { session: OwnedSession; messages: readonly AgentMessage[]; newest: string },
): Promise<void> {
  const names = endOf(messages, newest, BATCH);
  const end = { session, names, asked: askedIn(messages.slice(-BATCH)) };
  const change = await patiently(() => branchChange(store, end));
  if (change === "none") return;
  if (change === "left") return patiently(() => markLeft(store, end, READER));
  // Back from its end, as long as there is something to take back.
  const all = endOf(messages, newest, messages.length);
  for (let to = all.length; to > 0; to -= BATCH) {
    const batch = all.slice(Math.max(0, to - BATCH), to);
    if (!(await patiently(() => markJoined(store, { session, names: batch }, READER)))) break;
  }
  await patiently(() => markLeft(store, end, READER));
}

/** Ids of the messages up to the newest one that is stored, at most `most`. */
function endOf(messages: readonly AgentMessage[], newest: string, most: number): string[] {
  const names: string[] = [];
  for (let at = messages.length - 1; at >= 0 && names.length < most; at--) {
    const id = messageId(messages[at]!);
    if (id === undefined || (names.length === 0 && id !== newest)) continue;
    names.push(id);
  }
  return names.reverse();
}
