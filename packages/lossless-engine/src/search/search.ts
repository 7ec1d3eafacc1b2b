// Finds messages by words or by a pattern, newest first, and says how far it looked.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { Steps } from "@clew/plugin-sdk/host";
import { withoutRecall } from "../messages/quoting.ts";
import { searchTextOf } from "../messages/search-text.ts";
import { composed, placeInText, spelledInSteps } from "../messages/spelling.ts";
import { asFarAsPossible, patiently } from "../patiently.ts";
import { unindexed, withTrigrams, withWords } from "../store/candidates.ts";
import { countMessages, messagesBySeq, numbersBefore, type Scope } from "../store/recall.ts";
import type { StoredMessage } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { queryWords } from "../store/word-text.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";
import { catchUp } from "./catch-up.ts";
import { literalsOf } from "./pattern/literals.ts";
import { type Match, matcherOf } from "./pattern/matcher.ts";
import { parsePattern } from "./pattern/parse.ts";
import { literalIn, placeIn } from "./words-in.ts";

/** What to look for, and where. */
export interface SearchRequest {
  /** Words are found whatever their endings; a pattern is a regular expression. */
  readonly mode: "words" | "pattern";
  readonly query: string;
  readonly scope: Scope;
  /** Only messages that this holds for. */
  readonly accepts: (message: StoredMessage) => boolean;
  /** Only messages that came before this one. Absent: all. */
  readonly before?: number | undefined;
  readonly limit: number;
  /** Hits that count not against `limit`: they take the place of no others. Absent: none. */
  readonly isAside?: ((message: AgentMessage) => boolean) | undefined;
  /** Longest time to look, ms. */
  readonly boundMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A message that was found. */
export interface Hit {
  readonly message: StoredMessage;
  /** Its text, as it was searched. */
  readonly text: string;
  /** Where in it. */
  readonly match: Match;
}

/** What a search came to. */
export interface SearchResult {
  readonly hits: readonly Hit[];
  /** How many messages were read one by one; the index answered for all others. */
  readonly read: number;
  /** How many there are. */
  readonly of: number;
  /** Number of the message up to which was looked; null = to the oldest. */
  readonly stoppedAt: number | null;
  /** True: time was up before the limit was reached and before the oldest was. */
  readonly isTimeUp: boolean;
  /** Number of a message that the pattern could not be looked for in, in all the time there was. */
  readonly tooSlowFor?: number | undefined;
  /** Numbers of messages that may hold it and cannot be read, because their rows are damaged. */
  readonly damaged: readonly number[];
}

/** A message that may hold it; of a sure one the index says that it does. */
interface Candidate {
  readonly seq: number;
  readonly isSure: boolean;
}

/** Where to look, and how. */
interface Plan {
  readonly candidates: Candidates;
  readonly matchIn: Looking;
}

/** Those before `before`, newest first, at most `limit`. */
type Candidates = (before: number, limit: number) => Candidate[];

const PAGE = 64;
/** Hits that take the place of no others, at most. */
const MOST_ASIDE = 20;
/** Looks for it in the text of a candidate, in steps. */
type Looking = (text: string, isSure: boolean) => Steps<Match | undefined>;

/** A shorter text stands in no index. */
const INDEXED_LITERAL = 3;

/** Throws a PatternError for a pattern that is not offered. */
export async function search(store: Store, request: SearchRequest): Promise<SearchResult> {
  const { limit, boundMs, accepts, isAside = () => false, signal } = request;
  const end = performance.now() + boundMs;
  const { candidates, matchIn } = planSearch(store, request);
  await asFarAsPossible(() => catchUp(store, signal));
  const of = await patiently(() => countMessages(store, request.scope), signal);
  const hits: Hit[] = [];
  const damaged: number[] = [];
  let [read, counted, aside] = [0, 0, 0];
  let before = request.before ?? Number.MAX_SAFE_INTEGER;
  let isOver = pieceOfTime();
  for (;;) {
    const page = await patiently(() => candidates(before, PAGE), signal);
    for (const { seq, isSure } of page) {
      // At least one, however little time there is: the next page has to begin further on.
      const isFull = counted >= limit || aside >= MOST_ASIDE;
      if (isFull || (read > 0 && performance.now() >= end))
        return { hits, read, of, damaged, stoppedAt: before, isTimeUp: !isFull };
      if (isOver()) {
        await othersTurn();
        signal?.throwIfAborted();
        isOver = pieceOfTime();
      }
      before = seq;
      const [message] = await patiently(() => messagesBySeq(store, [seq]), signal);
      read++;
      if (message === undefined || message.isDamaged || !isWithin(request.scope, message)) {
        damaged.push(seq);
        continue;
      }
      if (!accepts(message)) continue;
      const stored = message.message;
      const said = withoutRecall(stored);
      const text = searchTextOf(said);
      // Where calls of recall tools were taken out, the word may have stood in them.
      const isHeld = isSure && said === stored;
      const looked = await lookedInTime(matchIn(text, isHeld), { end, signal });
      if (!looked.isDone)
        // The next page begins with it, and has more time for it, unless this one began with it.
        return {
          ...{ hits, of, damaged, read, isTimeUp: true },
          ...(read > 1 ? { stoppedAt: seq + 1 } : { stoppedAt: seq, tooSlowFor: seq }),
        };
      if (looked.match === undefined) continue;
      hits.push({ message, text, match: looked.match });
      if (isAside(stored)) aside++;
      else counted++;
    }
    if (page.length < PAGE) return { hits, read, of, damaged, stoppedAt: null, isTimeUp: false };
  }
}

/** False: its row names a conversation that is not there. */
const isWithin = (scope: Scope, { conversation }: StoredMessage): boolean =>
  scope === null || scope.includes(conversation);

/** Others have their turn meanwhile. */
async function lookedInTime(
  steps: Steps<Match | undefined>,
  { end, signal }: { end: number; signal?: AbortSignal | undefined },
): Promise<{ isDone: true; match: Match | undefined } | { isDone: false }> {
  let isOver = pieceOfTime();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return { isDone: true, match: value };
    if (performance.now() >= end) return { isDone: false };
    if (!isOver()) continue;
    await othersTurn();
    signal?.throwIfAborted();
    isOver = pieceOfTime();
  }
}

function planSearch(store: Store, request: SearchRequest): Plan {
  const { mode, query, scope } = request;
  if (mode === "pattern") return planPattern(store, request);
  const words = queryWords(query);
  // Signs that part words are in no index of words.
  if (words.indexed.length === 0) {
    const literal = query.trim();
    return {
      candidates: holdersOf(store, scope, literal),
      matchIn: (text) => literalIn(text, literal),
    };
  }
  const indexed: Candidates = (before, limit) =>
    withWords(store, query, { conversations: scope, before, limit }).map((seq) => ({
      seq,
      isSure: true,
    }));
  return {
    candidates: newestOf(indexed, bulkOf(store, scope)),
    matchIn: (text, isSure) => placeIn(text, words, isSure),
  };
}

/** Looks for a pattern in texts as they are spelled with the fewest characters. */
function planPattern(store: Store, { query, scope }: SearchRequest): Plan {
  const pattern = parsePattern(composed(query));
  const match = matcherOf(pattern);
  const [longest = ""] = literalsOf(pattern).sort((a, b) => b.length - a.length);
  // Looking for it first is much faster than matching, and too long for one step in a long text.
  const needed = inOneCase(longest);
  return {
    candidates: holdersOf(store, scope, longest),
    *matchIn(text) {
      const spelled = yield* spelledInSteps(text, composed);
      if (text.length < MOST_CHARS && !inOneCase(spelled).includes(needed)) return undefined;
      const place = yield* match(spelled);
      return place && (yield* placeInText(text, { spelling: composed, spelled, match: place }));
    },
  };
}

/** What may hold a text; of a short one the index knows nothing. */
function holdersOf(store: Store, scope: Scope, literal: string): Candidates {
  if (composed(literal).length < INDEXED_LITERAL)
    return (before, limit) => unsure(numbersBefore(store, { scope, before, limit }));
  const indexed: Candidates = (before, limit) =>
    unsure(withTrigrams(store, literal, { conversations: scope, before, limit }));
  return newestOf(indexed, bulkOf(store, scope));
}

const bulkOf =
  (store: Store, scope: Scope): Candidates =>
  (before, limit) =>
    unsure(unindexed(store, { conversations: scope, before, limit }));

const MOST_CHARS = 1_000_000;

/** The same for a letter in either case; not every letter has just two. */
const inOneCase = (text: string) => text.toLowerCase().toUpperCase();

const unsure = (numbers: readonly number[]): Candidate[] =>
  numbers.map((seq) => ({ seq, isSure: false }));

/** What either names, newest first, each once. */
const newestOf =
  (one: Candidates, other: Candidates): Candidates =>
  (before, limit) =>
    [
      ...new Map(
        [...other(before, limit), ...one(before, limit)].map((each) => [each.seq, each]),
      ).values(),
    ]
      .sort((a, b) => b.seq - a.seq)
      .slice(0, limit);
