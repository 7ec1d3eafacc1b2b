// Runs `clew sessions tail`, which shows what is said in a session while it is said.
import { setTimeout as sleep } from "node:timers/promises";
import { formatEntry } from "../../sessions/format-entry.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import type { ShownEntry } from "../../sessions/shown.ts";
import type { SessionStore } from "../../sessions/store.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { listenForStop } from "../stop.ts";
import { storedSessions } from "../stored-sessions.ts";

export interface TailOptions {
  follow?: boolean;
  lines: number;
  json?: boolean;
}

const LOOK_MS = 300;
/** Nobody says more within one look. */
const AT_ONCE = 200;

/** Reads only, so it can be used beside whoever writes. */
export async function tailSession(
  name: string,
  { follow = false, lines, json = false }: TailOptions,
  { environment, output }: Shell,
): Promise<number> {
  const { sessions: store } = await storedSessions(environment);
  const { key } = requireSessionName(name);
  if ((await store.find(key)) === null) throw await store.notFound(name);
  const show = (entries: readonly ShownEntry[]) => {
    for (const entry of entries)
      if (json) output.line(JSON.stringify(entry));
      else output.line(printable(formatEntry(entry)));
  };
  const newest = async (limit: number) => (await store.newest(key, limit))?.entries ?? [];
  let seen = await newest(lines);
  show(seen);
  if (!follow) return EXIT.done;
  let isOver = false;
  const ending = listenForStop().ending.then(() => {
    isOver = true;
  });
  let stamp = await stampOf(store, key);
  while (!isOver) {
    await Promise.race([sleep(LOOK_MS), ending]);
    const now = await stampOf(store, key);
    if (now === stamp) continue;
    stamp = now;
    const entries = await newest(AT_ONCE);
    show(newIn(entries, seen));
    seen = entries;
  }
  return EXIT.cancelled;
}

/** Pure. What was not there at the last look; all of it where a new transcript was begun. */
function newIn(entries: readonly ShownEntry[], seen: readonly ShownEntry[]): ShownEntry[] {
  const known = new Set(seen.map(({ id }) => id));
  return entries.slice(entries.findLastIndex(({ id }) => known.has(id)) + 1);
}

/** Another one means that something was written, or that the session has another transcript. */
async function stampOf(store: SessionStore, key: string) {
  const { sessionId, bytes, updatedAt } = (await store.find(key)) ?? {};
  return `${sessionId} ${bytes} ${updatedAt}`;
}
