// Finds the messages that hold most of some words, the rarest of which count most.
import { searchTextOf } from "../messages/search-text.ts";
import { patiently } from "../patiently.ts";
import { unindexed, withWords, wordsOf } from "../store/candidates.ts";
import { countMessages, messagesBySeq } from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";
import { catchUp } from "./catch-up.ts";
import { bestPassage, planTerms, type Term } from "./passage.ts";
import type { Hit, SearchRequest } from "./search.ts";

/** What to look for, and which of what is found. */
export interface RankedRequest
  extends Pick<SearchRequest, "query" | "scope" | "accepts" | "boundMs" | "limit" | "signal"> {
  /** How many of the best to pass over. */
  readonly skip: number;
  /** True: of two that hold as much, the newer counts for more. */
  readonly prefersNew: boolean;
}

/** What a ranked search came to. */
export interface RankedResult {
  /** Best first. */
  readonly hits: readonly Hit[];
  /** How many messages were compared by their texts. */
  readonly read: number;
  /** How many there are. */
  readonly of: number;
  /** True: there are more behind these. */
  readonly hasMore: boolean;
  /** True: time was up before all that could be among the best were read. */
  readonly isTimeUp: boolean;
}

/** Newest messages that are looked at for each word. */
const MOST_HOLDERS = 2_000;
/** Messages that no index holds, newest first. */
const MOST_UNINDEXED = 100;
/** Messages whose texts are compared; by their words alone all others are worse. */
const MOST_READ = 300;
/** What a message said this share of all messages ago counts, beside one said now. */
const HALF_LIFE_SHARE = 0.25;

/** A message need not hold all of the words. */
export async function searchRanked(store: Store, request: RankedRequest): Promise<RankedResult> {
  const { query, scope, accepts, boundMs, limit, skip, prefersNew, signal } = request;
  const end = performance.now() + boundMs;
  await catchUp(store, signal);
  const of = await patiently(() => countMessages(store, scope), signal);
  const range = { conversations: scope, limit: MOST_HOLDERS };
  const holders = new Map<string, readonly number[]>();
  for (const word of new Set(wordsOf(query)))
    holders.set(word, await patiently(() => withWords(store, word, range), signal));
  const terms = planTerms(holders, of);
  const bulk = await patiently(() => unindexed(store, { ...range, limit: MOST_UNINDEXED }), signal);
  const candidates = [...planCandidates(terms, holders), ...bulk];
  const found: { hit: Hit; score: number }[] = [];
  const newest = Math.max(0, ...candidates);
  let read = 0;
  let isOver = pieceOfTime();
  for (const seq of new Set(candidates)) {
    if (performance.now() >= end) break;
    if (isOver()) {
      await othersTurn();
      signal?.throwIfAborted();
      isOver = pieceOfTime();
    }
    const [message] = await patiently(() => messagesBySeq(store, [seq]), signal);
    read++;
    if (message === undefined || !accepts(message)) continue;
    const text = searchTextOf(message.message);
    const best = bestPassage(text, terms);
    if (best === undefined) continue;
    const age = (newest - seq) / Math.max(1, HALF_LIFE_SHARE * of);
    const score = prefersNew ? best.score * (1 + 0.5 ** age) : best.score;
    found.push({ hit: { message, text, match: best.match }, score });
  }
  const ranked = found.sort((a, b) => b.score - a.score || b.hit.message.seq - a.hit.message.seq);
  return {
    hits: ranked.slice(skip, skip + limit).map(({ hit }) => hit),
    ...{ read, of, hasMore: ranked.length > skip + limit },
    isTimeUp: read < new Set(candidates).size,
  };
}

/** Pure. Those that hold the weightiest words, of equals the newest. */
function planCandidates(
  terms: readonly Term[],
  holders: ReadonlyMap<string, readonly number[]>,
): number[] {
  const weights = new Map<number, number>();
  for (const { word, weight } of terms)
    for (const seq of holders.get(word) ?? []) weights.set(seq, (weights.get(seq) ?? 0) + weight);
  return [...weights]
    .sort(([a, one], [b, other]) => other - one || b - a)
    .slice(0, MOST_READ)
    .map(([seq]) => seq);
}
