// Decides which messages of a host without ids and times were told before.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { nameOf, saidOnce } from "../messages/name.ts";

/** True: nothing but what it says tells the message from others. */
export const isAnonymous = (message: AgentMessage): boolean =>
  nameOf(message).startsWith("json:") && message.timestamp === undefined;

/**
 * Index in `given` of the first message that is new: as many before it as possible are, one after
 * the other, what is stored last. `from`: at least those before it were told earlier. Of two ways
 * to see it the one counts that keeps more.
 */
export function firstNew({
  given,
  from,
  stored,
}: {
  /** Names, oldest first. */
  given: readonly string[];
  from: number;
  /** Names of what is stored, the newest last. */
  stored: readonly string[];
}): number {
  const known = stored.map(saidOnce);
  const names = given.map(saidOnce);
  let best = { at: from, alike: alikeBefore(names, from, known) };
  for (let at = from + 1; at <= names.length; at++) {
    const alike = alikeBefore(names, at, known);
    if (alike > best.alike) best = { at, alike };
  }
  return best.at;
}

/**
 * The same of a list of which nobody says where its new messages begin: all of them are new, but
 * for a history of several turns that begins with everything stored.
 */
export function firstNewOfBatch(
  messages: readonly AgentMessage[],
  stored: readonly string[],
): number {
  const requests = messages.filter(({ role }) => role === "user").length;
  const isHistory =
    requests > 1 &&
    stored.length > 0 &&
    stored.length <= messages.length &&
    stored.every((name, index) => saidOnce(name) === saidOnce(nameOf(messages[index]!)));
  return isHistory ? stored.length : 0;
}

function alikeBefore(names: readonly string[], end: number, known: readonly string[]): number {
  let alike = 0;
  while (
    alike < end &&
    alike < known.length &&
    names[end - 1 - alike] === known[known.length - 1 - alike]
  )
    alike++;
  return alike;
}
