// Notices by a history's end that its session left a branch, or came back to one.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { branchChange, markJoined, markLeft } from "../store/left.ts";
import type { Store } from "../store/store.ts";

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
  const end = { session, newest };
  const change = await patiently(() => branchChange(store, end));
  if (change === "none") return;
  if (change === "left") return patiently(() => markLeft(store, end));
  // Back from its end, as long as there is something to take back.
  const names = messages.flatMap((message) => messageId(message) ?? []);
  for (let to = names.lastIndexOf(newest) + 1; to > 0; to -= BATCH) {
    const batch = names.slice(Math.max(0, to - BATCH), to);
    if (!(await patiently(() => markJoined(store, { session, names: batch })))) break;
  }
  await patiently(() => markLeft(store, end));
}
