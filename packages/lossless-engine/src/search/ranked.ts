// Finds the messages that hold most of some words, the rarest of which count most.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { blocksOf } from "@clew/plugin-sdk/transcript";
import { searchTextOf } from "../messages/search-text.ts";
import { patiently } from "../patiently.ts";
import {
  type Range,
  saidBetween,
  unindexed,
  withTrigrams,
  withWords,
} from "../store/candidates.ts";
import { countMessages, messagesBySeq } from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";
import { catchUp } from "./catch-up.ts";
import { bestPassage, type Weighed, weigh } from "./passage.ts";
import type { Hit, SearchRequest } from "./search.ts";
import { type SearchTerm, termsOf } from "./terms.ts";

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
  const holders = new Map<SearchTerm, readonly number[]>();
  for (const term of termsOf(query))
    holders.set(term, await patiently(() => holdersOf(store, term, range), signal));
  const counts = new Map([...holders].map(([term, { length }]) => [term, length]));
  const terms = weigh(counts, of);
  const bulk = await patiently(() => unindexed(store, { ...range, limit: MOST_UNINDEXED }), signal);
  const candidates = [...new Set([...planCandidates(terms, holders), ...bulk])];
  const found: { hit: Hit; score: number }[] = [];
  const newest = Math.max(0, ...candidates);
  let read = 0;
  let isOver = pieceOfTime();
  for (const seq of candidates) {
    if (performance.now() >= end) break;
    if (isOver()) {
      await othersTurn();
      signal?.throwIfAborted();
      isOver = pieceOfTime();
    }
    const [message] = await patiently(() => messagesBySeq(store, [seq]), signal);
    read++;
    if (message === undefined || !accepts(message) || isRecall(message.message)) continue;
    const text = searchTextOf(message.message);
    const best = bestPassage(text, terms, dayOf(message.message));
    if (best === undefined) continue;
    const age = (newest - seq) / Math.max(1, HALF_LIFE_SHARE * of);
    const score = prefersNew ? best.score * (1 + 0.5 ** age) : best.score;
    found.push({ hit: { message, text, match: best.match }, score });
  }
  const ranked = found.sort((a, b) => b.score - a.score || b.hit.message.seq - a.hit.message.seq);
  return {
    hits: ranked.slice(skip, skip + limit).map(({ hit }) => hit),
    ...{ read, of, hasMore: ranked.length > skip + limit },
    isTimeUp: read < candidates.length,
  };
}

/** Newest first. */
function holdersOf(store: Store, { word, kind }: SearchTerm, range: Range): number[] {
  switch (kind) {
    case "word":
      return withWords(store, word, range);
    case "name":
      return withTrigrams(store, word, range);
    case "day": {
      const from = Date.parse(word);
      return Number.isNaN(from) ? [] : saidBetween(store, { ...range, from, to: from + DAY_MS });
    }
  }
}

const DAY_MS = 86_400_000;

const dayOf = ({ timestamp }: AgentMessage) =>
  Number.isSafeInteger(timestamp) ? new Date(timestamp!).toISOString().slice(0, 10) : undefined;

/** What only quotes the record would be found in place of what it quotes. */
function isRecall(message: AgentMessage): boolean {
  if (message.role === "toolResult") return isRecallTool(message.toolName);
  if (message.role !== "assistant") return false;
  const said = blocksOf(message.content).filter(
    ({ type, text }) => type !== "thinking" && !(type === "text" && text === ""),
  );
  return (
    said.length > 0 && said.every(({ type, name }) => type === "toolCall" && isRecallTool(name))
  );
}

const isRecallTool = (name: unknown) => typeof name === "string" && name.startsWith("lcm_");

/** Pure. Those that hold the weightiest terms, of equals the newest. */
function planCandidates(
  terms: readonly Weighed[],
  holders: ReadonlyMap<SearchTerm, readonly number[]>,
): number[] {
  const weights = new Map<number, number>();
  for (const { term, weight } of terms)
    for (const seq of holders.get(term) ?? []) weights.set(seq, (weights.get(seq) ?? 0) + weight);
  return [...weights]
    .sort(([a, one], [b, other]) => other - one || b - a)
    .slice(0, MOST_READ)
    .map(([seq]) => seq);
}
