// Knows earlier cuts by the names that a history gives its messages now.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { inSlices } from "@clew/plugin-sdk/host";
import { isNameless, nameOf, namesWithoutId, nthName } from "../messages/name.ts";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import type { StoredCut } from "../store/cuts.ts";
import { namesWithoutIdOf } from "../store/messages.ts";
import type { Store } from "../store/store.ts";

type Cuts = ReadonlyMap<string, StoredCut>;

/** The cuts, those of stored ids also under what messages without ids are known by. */
export async function cutsAmong(
  store: Store,
  {
    session,
    messages,
    cuts,
    signal,
  }: {
    session: OwnedSession;
    messages: readonly AgentMessage[];
    cuts: Cuts;
    signal?: AbortSignal | undefined;
  },
): Promise<Cuts> {
  if (cuts.size === 0 || messages.every((message) => messageId(message) !== undefined)) return cuts;
  const names = [...cuts.values()].flatMap(namesOf);
  const known = await patiently(() => namesWithoutIdOf(store, session, names), signal);
  const now = [...known.values()].some(({ length }) => length > 1)
    ? await namesIn(messages, signal)
    : new Set<string>();
  // A cut whose first message has no key is the same in both ways; its request may have one.
  const among = (name: string) =>
    now.has(name) ? name : known.get(name)?.find((other) => now.has(other));
  return [0, -1].reduce((all, place) => {
    const firstOf = (name: string) => known.get(name)?.at(place);
    return renamed(all, firstOf, (name) => among(name) ?? firstOf(name));
  }, cuts);
}

async function namesIn(
  messages: readonly AgentMessage[],
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  await inSlices(messages, (message) => names.add(nameOf(message)), { signal });
  return names;
}

/** The cuts, those of messages that had no ids when they were made also under the ids they have. */
export async function cutsByIds(
  messages: readonly AgentMessage[],
  cuts: Cuts,
  signal: AbortSignal | undefined,
): Promise<Cuts> {
  if (![...cuts.values()].some((cut) => namesOf(cut).some(isNameless))) return cuts;
  const ids = new Map<string, string>();
  const times = new Map<string, number>();
  await inSlices(
    messages,
    (message) => {
      if (messageId(message) === undefined) return;
      for (const name of namesWithoutId(message)) {
        const time = (times.get(name) ?? 0) + 1;
        times.set(name, time);
        ids.set(nthName(name, time), nameOf(message));
      }
    },
    { signal },
  );
  return renamed(cuts, (name) => ids.get(name));
}

const namesOf = ({ first, request, parts }: StoredCut): string[] => [
  ...[first, ...parts.keys()],
  ...(request === null ? [] : [request]),
];

/**
 * Undefined: a message has no other name. Of two cuts at one place the newer one counts. `shownOf`:
 * the same for messages that a cut shows, if that is not the same.
 */
function renamed(
  cuts: Cuts,
  firstOf: (name: string) => string | undefined,
  shownOf = firstOf,
): Cuts {
  const all = new Map(cuts);
  const now = (name: string) => shownOf(name) ?? name;
  for (const cut of [...cuts.values()].sort((a, b) => a.id - b.id)) {
    const first = firstOf(cut.first) ?? cut.first;
    const request = cut.request === null ? null : now(cut.request);
    const parts = new Map([...cut.parts].map(([name, part]) => [now(name), part]));
    all.set(first, { ...cut, first, request, parts });
  }
  return all;
}
