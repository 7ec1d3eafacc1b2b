// Which fields of messages an engine leaves out.
import type { AgentMessage } from "../../contract/message.ts";
import { hasWordsOf } from "./content.ts";

/** Names of fields by role; undefined = it is not known what the engine leaves out. */
export type Dropped = ReadonlyMap<string, ReadonlySet<string>> | undefined;

/** Of messages that say all that was said. */
export function droppedIn(
  shown: readonly AgentMessage[],
  places: readonly (number | undefined)[],
  said: readonly AgentMessage[],
): NonNullable<Dropped> {
  const dropped = new Map<string, Set<string>>();
  for (const [at, message] of shown.entries()) {
    const place = places[at];
    if (place === undefined || !hasWordsOf(message, said[place]!)) continue;
    const names = dropped.get(message.role) ?? new Set();
    for (const name of missingIn(message, said[place]!)) names.add(name);
    dropped.set(message.role, names);
  }
  return dropped;
}

/** A field that is missing where the engine left it in elsewhere; undefined = none is. */
export function lostField(
  shown: AgentMessage,
  versions: readonly AgentMessage[],
  dropped: Dropped,
): string | undefined {
  const usual = dropped?.get(shown.role);
  if (usual === undefined) return undefined;
  const whole = versions.filter((version) => hasWordsOf(shown, version));
  const lost = whole.map((version) => missingIn(shown, version).find((name) => !usual.has(name)));
  return lost.includes(undefined) ? undefined : lost[0];
}

const missingIn = (shown: AgentMessage, said: AgentMessage): string[] =>
  Object.keys(said).filter(
    (name) =>
      name !== "__openclaw" &&
      (said as unknown as Record<string, unknown>)[name] !== undefined &&
      (shown as unknown as Record<string, unknown>)[name] === undefined,
  );
