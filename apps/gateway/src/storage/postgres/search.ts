// Finds what was said in sessions that are in PostgreSQL.
import type { DeliveryLedger } from "@clew/engine-core";
import { stepsInSlices } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { MessageHit, PostgresReader } from "@clew/store-postgres";
import { fromJson } from "../../own-json.ts";
import { searchedText } from "../../sessions/search/entry-text.ts";
import { searchMatcher } from "../../sessions/search/query.ts";
import type { FoundEntry, SessionSearch } from "../../sessions/search/session-search.ts";

/** Longest time that is looked, in all agents. */
const BOUND_MS = 20_000;

type Hit = MessageHit<Pick<FoundEntry, "entry" | "timestamp" | "text">>;

export const createPostgresSearch = (
  store: PostgresReader<DeliveryLedger>,
  { boundMs = BOUND_MS }: { boundMs?: number } = {},
): SessionSearch => ({
  async search({ query, session, limit, everyBranch, signal, says }) {
    const { needs, excerptOf } = searchMatcher(query);
    const end = performance.now() + boundMs;
    const agents = session === undefined ? await store.agents() : [session.agentId];
    const hits: Hit[] = [];
    const whyUnread: { session: string; why: string }[] = [];
    let partly: { looked: number; of: number } | undefined;
    let hasTrigrams = true;
    for (const agentId of agents) {
      signal.throwIfAborted();
      says(`Searching the sessions of ${agentId}, ${hits.length} found`);
      const answer = await store.search({
        ...{ agentId, sessionId: session?.sessionId, everyBranch, needs, limit, signal },
        boundMs: Math.max(0, end - performance.now()),
        async accepts(line) {
          const entry = fromJson(line) as TranscriptEntry;
          const said = searchedText(entry);
          if (said === null) return undefined;
          const text = await stepsInSlices(excerptOf(said), { signal });
          return text === undefined
            ? undefined
            : { entry: entry.id, timestamp: entry.timestamp, text };
        },
      });
      hits.push(...answer.hits);
      whyUnread.push(...answer.unread.map(({ key, why }) => ({ session: key, why })));
      hasTrigrams &&= answer.hasTrigrams;
      if (answer.partly !== undefined)
        partly = {
          looked: (partly?.looked ?? 0) + answer.partly.looked,
          of: (partly?.of ?? 0) + answer.partly.of,
        };
    }
    const found = hits
      .sort((one, other) => other.ts - one.ts)
      .slice(0, limit)
      .map(foundOf);
    return {
      ...{ found, unread: whyUnread.length },
      ...(whyUnread.length > 0 && { whyUnread }),
      ...(partly !== undefined && { partly }),
      ...(!hasTrigrams && { hasNoIndex: true }),
    };
  },
});

const foundOf = ({ key, label, isOnBranch, value }: Hit): FoundEntry => ({
  ...{ session: key, ...value },
  ...(label !== null && { label }),
  ...(!isOnBranch && { isTakenBack: true }),
});
