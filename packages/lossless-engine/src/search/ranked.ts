// Finds the messages that hold most of some words, and what the best of them lead to.
import { isRecall } from "../messages/quoting.ts";
import { asFarAsPossible, patiently } from "../patiently.ts";
import { countMessages, countSince, messagesBySeq, numbersBefore } from "../store/recall.ts";
import { type StoredMessage, timeOf } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { catchUp } from "./catch-up.ts";
import { createComparison, type RankedHit } from "./compare.ts";
import { newNamesIn, writtenSmall } from "./names.ts";
import type { Weighed } from "./passage.ts";
import type { SearchRequest } from "./search.ts";
import { type SearchTerm, termsOf } from "./terms.ts";

/** What to look for, and which of what is found. */
export interface RankedRequest
  extends Pick<SearchRequest, "query" | "scope" | "accepts" | "boundMs" | "limit" | "signal"> {
  /** How many of the best to pass over. */
  readonly skip: number;
  /** Number of a message: only older ones. Absent: all that are stored now. */
  readonly before?: number | undefined;
  /** True: of two that hold as much, the newer counts for more. */
  readonly prefersNew: boolean;
}

/** What a ranked search came to. */
export interface RankedResult {
  /** Best first. */
  readonly hits: readonly RankedHit[];
  /** How many messages were compared by their texts. */
  readonly read: number;
  /** How many there are. */
  readonly of: number;
  /** The same query finds the same before the message of this number, whatever is said since. */
  readonly before: number;
  /** How many are known to hold some of the words, and were too many to be compared. */
  readonly passedOver: number;
  /** True: there are more behind these. */
  readonly hasMore: boolean;
  /** True: time was up before all that could be among the best were read. */
  readonly isTimeUp: boolean;
}

/** A message need not hold all of the words. */
export async function searchRanked(store: Store, request: RankedRequest): Promise<RankedResult> {
  const { query, scope, accepts, boundMs, limit, skip, prefersNew, signal } = request;
  const end = performance.now() + boundMs;
  await asFarAsPossible(() => catchUp(store, signal));
  const newest = await newestIn(store, { scope, before: Number.MAX_SAFE_INTEGER });
  const before = request.before ?? (newest?.seq ?? 0) + 1;
  const of = await patiently(
    () => countMessages(store, scope) - countSince(store, { scope, since: before }),
    signal,
  );
  const comparison = createComparison(store, {
    ...{ scope, of, before, prefersNew, signal },
    // The one was taken back, the other would be found in place of what it quotes.
    accepts: (message) => accepts(message) && message.isLeft !== true && !isRecall(message.message),
    isOver: () => performance.now() >= end,
  });
  const last = await newestIn(store, { scope, before });
  const terms = termsOf(query, last === undefined ? 0 : (timeOf(last.message) ?? 0));
  const asked = await comparison.weigh(terms);
  const first = await comparison.best(asked);
  const led = isAnswered(first[0], asked)
    ? []
    : await leadsFrom(first, { terms, asked, weigh: comparison.weigh });
  const ranked = led.length === 0 ? first : await comparison.best(asked, led);
  return {
    hits: ranked.slice(skip, skip + limit),
    ...{ of, before, read: comparison.read(), hasMore: ranked.length > skip + limit },
    passedOver: comparison.passedOver(),
    isTimeUp: comparison.isTimeUp(),
  };
}

/** True: the best hit holds all that is asked for, so that nothing is left for a second step. */
const isAnswered = (best: RankedHit | undefined, asked: readonly Weighed[]) =>
  best === undefined || asked.every((one) => one.weight === 0 || best.held.has(one));

/** Hits whose names are followed. */
const LEADS = 8;
/** Names that are followed, the most telling. */
const MOST_NAMES = 6;
/** Hits that tell which words at the beginning of a sentence are no names. */
const MOST_READ = 100;
/** A name that more messages hold leads nowhere. */
const MOST_HOLDERS = 40;
/** What a name counts beside a word of the query. */
const LED = 0.6;
/** Around a match. */
const LEAD_CHARS = 300;

/**
 * The second step of a question in two: a hit may name what the answer is about. A name counts as
 * much as the hit that it stands in, and as the rarity of the name. At the beginning of a sentence
 * it is one as long as no hit writes it small.
 */
async function leadsFrom(
  hits: readonly RankedHit[],
  {
    terms,
    asked,
    weigh,
  }: {
    terms: readonly SearchTerm[];
    asked: readonly Weighed[];
    weigh: (terms: readonly SearchTerm[], mostHolders: number) => Promise<Weighed[]>;
  },
): Promise<Weighed[]> {
  const most = asked.reduce((sum, { weight }) => Math.max(sum, weight), 0);
  const best = hits[0]?.score ?? 0;
  const shares = new Map<string, number>();
  const small = writtenSmall(hits.slice(0, MOST_READ).map(around));
  for (const hit of hits.slice(0, LEADS))
    for (const { name, isFirst } of newNamesIn(around(hit), terms)) {
      if (isFirst && small.has(name)) continue;
      shares.set(name, Math.max(shares.get(name) ?? 0, (hit.score / best) ** 2));
    }
  const named = [...shares.keys()].flatMap((name) => termsOf(name, 0).slice(0, 1));
  const weighed = await weigh(named, MOST_HOLDERS);
  return weighed
    .map(({ term, weight }) => ({
      term,
      weight: LED * (shares.get(term.word) ?? 0) * Math.min(weight, most),
    }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_NAMES);
}

/** Where a hit says what was asked for. */
const around = ({ text, match: { start } }: RankedHit) =>
  text.slice(Math.max(0, start - LEAD_CHARS), start + LEAD_CHARS);

/** The newest message of a scope before one of this number. */
async function newestIn(
  store: Store,
  where: { scope: RankedRequest["scope"]; before: number },
): Promise<StoredMessage | undefined> {
  const numbers = () => numbersBefore(store, { ...where, limit: 1 });
  return (await patiently(() => messagesBySeq(store, numbers())))[0];
}
