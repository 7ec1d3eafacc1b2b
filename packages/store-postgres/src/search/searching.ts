// What a store offers of searching, over connections of its own.
import type { Database } from "../database.ts";
import { indexNext, type SearchText } from "./fill.ts";
import { type MessageSearch, type MessageSearchRequest, searchMessages } from "./search.ts";
import { AGENTS } from "./statements.ts";

/** Finds what was said, and keeps the index for it. */
export interface Searching {
  /** Agents that have sessions. */
  agents(): Promise<string[]>;
  /**
   * Finds messages of an agent, newest first, also those that the index lacks. Where it lacks many,
   * they are put into it first, as far as there is time.
   */
  search<Value>(request: MessageSearchRequest<Value>): Promise<MessageSearch<Value>>;
  /**
   * Puts the next entries into the search index; how many (0: it lacks none, or others do it).
   * Any number of gateways may at once; who is killed leaves nothing half done.
   */
  indexNext(signal?: AbortSignal): Promise<number>;
}

/** What is left of the time goes to looking for it. */
const INDEXING_SHARE = 0.5;

export function createSearching(
  database: Database,
  { searchText = () => null }: { searchText?: SearchText },
): Searching {
  const fill = (signal?: AbortSignal) => indexNext(database, searchText, signal);
  return {
    agents: async () => (await database.ask(AGENTS, [])).map(({ agent_id: id }) => id),
    indexNext: fill,
    async search(request) {
      const { boundMs, signal } = request;
      const end = performance.now() + boundMs;
      const found = await searchMessages(database, request);
      if (!found.isBehind) return found;
      const indexedUntil = performance.now() + INDEXING_SHARE * boundMs;
      for (let done = 1; done > 0 && performance.now() < indexedUntil; ) done = await fill(signal);
      return searchMessages(database, {
        ...request,
        boundMs: Math.max(0, end - performance.now()),
      });
    },
  };
}
