// Stores what a view shows and nobody told of, such as notes.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { pause } from "@clew/plugin-sdk/host";
import { named, nameOf } from "../messages/name.ts";
import { isOwn } from "../messages/own.ts";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { knownNames, storeMessages } from "../store/messages.ts";
import { roomFor } from "../store/room.ts";
import type { Store } from "../store/store.ts";
import { noteBranch } from "./branches.ts";
import { isAnonymous } from "./told-again.ts";

/** Messages that are looked up, and stored, at once. */
const BATCH = 32;
/** The first ones, where all have ids: most views end with a message that was told. */
const FIRST_BATCH = 2;

/** Where some have no ids so many are looked at: one that is known says little of those before. */
const MOST_NAMELESS = 256;

/** A host's mark of a result that it made up for a view, since nothing ever answered the call. */
const MADE_UP = "openclawSyntheticMissingToolResult";

/**
 * False for what only the view has. A made-up result is stamped when the view is made: later than
 * what follows it, even where the host strips its mark.
 */
function isTold(message: AgentMessage, next: AgentMessage | undefined): boolean {
  if (isOwn(message) || isAnonymous(message)) return false;
  if (message.role !== "toolResult" || !message.isError || messageId(message) !== undefined)
    return true;
  const { details, timestamp = 0 } = message;
  const isMarked = typeof details === "object" && details !== null && MADE_UP in details;
  return !isMarked && timestamp <= (next?.timestamp ?? timestamp);
}

/**
 * From the newest message back to the first that is known. Messages without ids and times are left
 * to the calls that tell of them: in a view nothing says which is which.
 */
export async function storeSeen(
  store: Store,
  { session, messages }: { session: OwnedSession; messages: readonly AgentMessage[] },
): Promise<void> {
  const unknown: AgentMessage[] = [];
  let newestKnown: string | undefined;
  const haveIds = messages
    .slice(-BATCH)
    .every((message) => messageId(message) !== undefined && !isOwn(message));
  let size = haveIds ? FIRST_BATCH : BATCH;
  for (let end = messages.length; end > 0; end -= size, size = BATCH) {
    const start = Math.max(0, end - size);
    const batch = messages
      .slice(start, end)
      .filter((message, at) => isTold(message, messages[start + at + 1]));
    if (batch.length === 0) break;
    const names = batch.map(nameOf);
    const { known, hasNameless } = await patiently(() => knownNames(store, session, names));
    const newest = names.findLastIndex((name) => known.has(name));
    const isMixed = hasNameless || batch.some((message) => messageId(message) === undefined);
    if (!isMixed) newestKnown ??= names[newest];
    unknown.unshift(...batch.filter((_, at) => (isMixed ? !known.has(names[at]!) : at > newest)));
    if (isMixed ? messages.length - start >= MOST_NAMELESS : newest >= 0) break;
    await pause();
  }
  if (newestKnown !== undefined)
    await noteBranch(store, { session, messages, newest: newestKnown });
  for (let at = 0; at < unknown.length; at += BATCH) {
    const seen = unknown.slice(at, at + BATCH).map(named);
    await roomFor(store, seen.length);
    await patiently(() => storeMessages(store, { session, messages: seen, from: "seen" }));
    await pause();
  }
}
