// Finds what was said in sessions by reading their files.
import { setImmediate } from "node:timers/promises";
import { stepsInSlices } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { counted } from "../../text/number.ts";
import type { SessionSummary } from "../list-sessions.ts";
import { readAllEntries } from "../read-transcript.ts";
import type { SessionStore } from "../store.ts";
import { searchedText } from "./entry-text.ts";
import { type SearchMatcher, searchMatcher } from "./query.ts";
import type { FoundEntry, SessionSearch, SessionSearchRequest } from "./session-search.ts";

interface TimedEntry extends FoundEntry {
  /** ms since the epoch. */
  ts: number;
}

export const createFileSearch = (store: SessionStore): SessionSearch => ({
  async search(request) {
    const { query, session, limit, signal, says } = request;
    const matcher = searchMatcher(query);
    const sessions = session === undefined ? await store.list() : [session];
    let found: TimedEntry[] = [];
    let unread = 0;
    for (const [index, each] of sessions.entries()) {
      signal.throwIfAborted();
      says(`${counted(index, "session")} of ${sessions.length} searched, ${found.length} found`);
      // They come newest first: what is in the others was said before.
      const last = found[limit - 1];
      if (last !== undefined && Date.parse(each.updatedAt) < last.ts) break;
      const more = await foundIn(store, each, matcher, request);
      if (more === null) unread++;
      else found = [...found, ...more].sort(newestFirst).slice(0, limit);
      await setImmediate();
    }
    return { found: found.map(({ ts, ...entry }) => entry), unread };
  },
});

/** The newest of a session, newest first; null: what cannot be read is the doctor's to tell of. */
async function foundIn(
  store: SessionStore,
  { key, label }: SessionSummary,
  matcher: SearchMatcher,
  { limit, everyBranch, signal }: SessionSearchRequest,
): Promise<TimedEntry[] | null> {
  const read = await store.read(key).catch(() => undefined);
  if (read === undefined) return null;
  if (read === null) return [];
  const current = new Set(read.branch.map(({ id }) => id));
  const entries = everyBranch ? await readAllEntries(read.file) : read.branch;
  const found: TimedEntry[] = [];
  for (const { entry, ts } of byTime(entries)) {
    if (found.length >= limit) break;
    const said = searchedText(entry);
    if (said === null) continue;
    const text = await stepsInSlices(matcher.excerptOf(said), { signal });
    if (text === undefined) continue;
    const { id, timestamp } = entry;
    found.push({
      ...{ session: key, entry: id, timestamp, text, ts },
      ...(label !== undefined && { label }),
      ...(!current.has(id) && { isTakenBack: true }),
    });
  }
  return found;
}

/** Newest first; of the same millisecond what stands further behind in the file. */
const byTime = (entries: readonly TranscriptEntry[]) =>
  entries
    .map((entry) => ({ entry, ts: timeOf(entry) }))
    .reverse()
    .sort(newestFirst);

const newestFirst = (one: { ts: number }, other: { ts: number }): number => other.ts - one.ts;

const timeOf = ({ timestamp }: TranscriptEntry): number => {
  const ts = Date.parse(timestamp);
  return Number.isNaN(ts) ? 0 : ts;
};
