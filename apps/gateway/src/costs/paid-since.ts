// Reads what was written down of sessions' model calls.
import { readCosts } from "./ledger.ts";
import { type BegunLine, type CallLine, dayOf } from "./line.ts";

/** A call that ended, or one that began and of whose end nothing is written down. */
export type PaidLine = CallLine | BegunLine;

/** Of the session by this canonical key, whatever it is called since it began anew. */
export const paidSince = async (home: string, key: string, at: string): Promise<PaidLine[]> =>
  (await paidByKey(home, new Map([[key, at]]))).get(key)!;

/** `since`: by canonical key, from when on, ISO 8601. Each day is read once. */
export async function paidByKey(
  home: string,
  since: ReadonlyMap<string, string>,
): Promise<Map<string, PaidLine[]>> {
  const found = new Map([...since.keys()].map((key) => [key, [] as PaidLine[]]));
  if (found.size === 0) return found;
  const keysOf = new Map<string, string[]>();
  for (const key of found.keys())
    for (const name of namesOf(key)) keysOf.set(name, [...(keysOf.get(name) ?? []), key]);
  const ended = new Set<string>();
  const days = new Map([...since].map(([key, at]) => [key, dayOf(Date.parse(at))]));
  for await (const { day, line } of readCosts(home, [...days.values()].sort()[0])) {
    if (line.kind !== "call" && line.kind !== "begun") continue;
    if (line.kind === "call" && line.id !== undefined) ended.add(line.id);
    for (const key of keysOf.get(line.session) ?? [])
      if (day >= days.get(key)!) found.get(key)!.push(line);
  }
  const isTold = (line: PaidLine) => line.kind === "call" || !ended.has(line.id);
  return new Map([...found].map(([key, lines]) => [key, lines.filter(isTold)]));
}

/** A session that began anew has the key that it had, and a part behind a dot. */
const namesOf = (key: string): string[] => {
  const parts = key.split(".");
  return parts.map((_, at) => parts.slice(0, at + 1).join("."));
};
