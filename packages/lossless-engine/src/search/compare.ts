// Compares the messages that hold some terms by their best passages.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { pause, type Steps, stepsInSlices } from "@clew/plugin-sdk/host";
import { isSummary } from "../messages/quoting.ts";
import { searchTextOf } from "../messages/search-text.ts";
import { patiently } from "../patiently.ts";
import {
  type Range,
  saidBetween,
  unindexed,
  withTrigrams,
  withWords,
} from "../store/candidates.ts";
import { messagesBySeq, type Scope } from "../store/recall.ts";
import { type StoredMessage, timeOf } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { bestPassage, type Weighed, weightOf } from "./passage.ts";
import type { Hit } from "./search.ts";
import type { SearchTerm } from "./terms.ts";

/** A message that was found, and how well it answers. */
export interface RankedHit extends Hit {
  readonly score: number;
  /** The terms that stand in it. */
  readonly held: ReadonlySet<Weighed>;
}

/** Which messages are compared, and for how long. */
export interface ComparisonRequest {
  readonly scope: Scope;
  /** How many messages there are. */
  readonly of: number;
  /** Number of a message: only older ones are compared. */
  readonly before: number;
  readonly accepts: (message: StoredMessage) => boolean;
  /** True: of two that hold as much, the newer counts for more. */
  readonly prefersNew: boolean;
  /** True: no time is left. */
  readonly isOver: () => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** One search, in which no message is read twice. */
export interface Comparison {
  /** What each counts; terms that more than `mostHolders` messages hold are left out. */
  weigh(terms: readonly SearchTerm[], mostHolders?: number): Promise<Weighed[]>;
  /**
   * Of the messages that hold any of these, the best first; the same passage once. `led`: names
   * that hits lead to. Absent: none.
   */
  best(asked: readonly Weighed[], led?: readonly Weighed[]): Promise<RankedHit[]>;
  /** How many messages were read. */
  read(): number;
  /** How many are known to hold any of the terms, and were too many to be read. */
  passedOver(): number;
  /** True: not all that should have been were. */
  isTimeUp(): boolean;
}

/** Newest messages that are looked at for each word. */
const MOST_HOLDERS = 2_000;
/** Older ones of which is told how many there are. */
const SAMPLE = 200;
/** Messages that no index holds, newest first. */
const MOST_UNINDEXED = 100;
/** Messages whose texts are compared; by their words alone all others are worse. */
const MOST_READ = 300;
/** What a message said this share of all messages ago counts, beside one said now. */
const HALF_LIFE_SHARE = 0.25;
/** What a summary counts: it quotes what is stored itself. */
const QUOTING = 0.3;
/** Two passages that begin alike for so many characters are the same. */
const ALIKE_CHARS = 160;

export function createComparison(store: Store, request: ComparisonRequest): Comparison {
  const { scope, of, before, accepts, prefersNew, signal } = request;
  const holders = new Map<string, readonly number[]>();
  const texts = new Map<number, { message: StoredMessage; text: string } | null>();
  let isTimeUp = false;
  let passedOver = 0;
  const range = { conversations: scope, before, limit: MOST_HOLDERS };

  /** One question of many: others have their turn between two. */
  const ask = async <Answer>(question: () => Answer): Promise<Answer> => {
    await pause(signal);
    return patiently(question, signal);
  };

  const holdersFor = async (term: SearchTerm) => {
    const known = holders.get(term.stem) ?? (await ask(() => holdersOf(store, term, range)));
    holders.set(term.stem, known);
    return known;
  };

  /** How many messages hold a term; exact as long as they are not many. */
  const heldBy = async (term: SearchTerm): Promise<number> => {
    const newest = await holdersFor(term);
    const oldest = newest.at(-1);
    if (newest.length < MOST_HOLDERS || oldest === undefined) return newest.length;
    const further = { ...range, before: oldest, limit: SAMPLE };
    const older = await ask(() => holdersOf(store, term, further));
    if (older.length < SAMPLE) return newest.length + older.length;
    // As many further back as in the stretch behind those.
    return newest.length + Math.round((SAMPLE * oldest) / (oldest - older.at(-1)!));
  };

  const textOf = async (seq: number) => {
    const known = texts.get(seq);
    if (known !== undefined) return known;
    const [message] = await ask(() => messagesBySeq(store, [seq]));
    const isWanted = message !== undefined && accepts(message);
    const found = isWanted ? { message, text: searchTextOf(message.message) } : null;
    texts.set(seq, found);
    return found;
  };

  return {
    read: () => texts.size,
    passedOver: () => passedOver,
    isTimeUp: () => isTimeUp,

    async weigh(terms, mostHolders = Infinity) {
      const weighed: Weighed[] = [];
      for (const term of terms) {
        const held = Math.min(of, await heldBy(term));
        if (held <= mostHolders) weighed.push({ term, weight: weightOf(term, held, of) });
      }
      return weighed;
    },

    async best(asked, led = []) {
      const terms = [...asked, ...led];
      for (const { term } of terms) await holdersFor(term);
      const known = new Map(holders);
      for (const pair of planPairs(terms, holders)) {
        const text = pair.map(({ term }) => term.word).join(" ");
        const found = await ask(() => withWords(store, text, range));
        for (const { term } of pair)
          known.set(term.stem, [...new Set([...known.get(term.stem)!, ...found])]);
      }
      const bulk = await ask(() => unindexed(store, { ...range, limit: MOST_UNINDEXED }));
      const planned = await stepsInSlices(planCandidates(terms, known), { signal });
      const candidates = [...new Set([...planned.best, ...bulk])];
      passedOver = planned.others;
      const newest = Math.max(0, ...candidates);
      const found: RankedHit[] = [];
      for (const seq of candidates) {
        if (request.isOver()) {
          isTimeUp = true;
          break;
        }
        const one = await textOf(seq);
        if (one === null) continue;
        const { message, text } = one;
        const time = timeOf(message.message) ?? undefined;
        const best = await stepsInSlices(bestPassage(text, { terms, time }), { signal });
        if (best === undefined) continue;
        const age = (newest - seq) / Math.max(1, HALF_LIFE_SHARE * of);
        const score = best.score * saying(message.message) * (prefersNew ? 1 + 0.5 ** age : 1);
        found.push({ message, text, match: best.match, score, held: best.held });
      }
      return originalsFirst(eachOnce(found.sort(byScore)), asked);
    },
  };
}

/** The weightiest words of which so many hold each that only the newest are known. */
const MOST_PAIRED = 4;

/** Pure. Common words whose holders are looked for together: older ones may hold both. */
function planPairs(
  terms: readonly Weighed[],
  holders: ReadonlyMap<string, readonly number[]>,
): [Weighed, Weighed][] {
  const common = terms
    .filter(({ term }) => isInWords(term) && holders.get(term.stem)!.length >= MOST_HOLDERS)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_PAIRED);
  return common.flatMap((one, at) =>
    common.slice(at + 1).map((other): [Weighed, Weighed] => [one, other]),
  );
}

/** The index of words knows it. */
const isInWords = ({ kind }: SearchTerm) => kind === "word" || kind === "piece";

/** Newest first. */
function holdersOf(store: Store, { word, kind, span }: SearchTerm, range: Range): number[] {
  switch (kind) {
    case "word":
    case "piece":
      return withWords(store, word, range);
    case "name":
      return withTrigrams(store, word, range);
    case "time":
      return span === undefined ? [] : saidBetween(store, { ...range, ...span });
  }
}

const saying = (message: AgentMessage) => (isSummary(message) ? QUOTING : 1);

const byScore = (a: RankedHit, b: RankedHit) => b.score - a.score || b.message.seq - a.message.seq;

/** Hits that are put in order by what they add. */
const MOST_ORDERED = 60;
/** What a term still counts in a hit behind one that holds it. */
const SEEN = 0.6;

/** Pure. The best first, then what holds most of the terms that those before it do not. */
function byWhatTheyAdd(hits: readonly RankedHit[]): RankedHit[] {
  const left = new Set(hits.slice(0, MOST_ORDERED));
  const counts = new Map<Weighed, number>();
  const ordered: RankedHit[] = [];
  while (left.size > 0) {
    let [next, most] = [undefined as RankedHit | undefined, -1];
    for (const hit of left) {
      const adds = hit.score * freshness(hit.held, counts);
      if (adds > most) [next, most] = [hit, adds];
    }
    left.delete(next!);
    ordered.push({ ...next!, score: most });
    for (const one of next!.held) counts.set(one, (counts.get(one) ?? 1) * SEEN);
  }
  return [...ordered, ...hits.slice(MOST_ORDERED)];
}

/** Pure. A summary comes behind all that was said, unless it alone holds what is asked for. */
function originalsFirst(hits: readonly RankedHit[], asked: readonly Weighed[]): RankedHit[] {
  const isSaid = ({ message }: RankedHit) => !isSummary(message.message);
  const said = new Set(hits.filter(isSaid).flatMap(({ held }) => [...held]));
  const isFirst = (hit: RankedHit) =>
    isSaid(hit) || asked.some((one) => hit.held.has(one) && !said.has(one));
  const first = byWhatTheyAdd(hits.filter(isFirst));
  const least = first.at(-1)?.score ?? Infinity;
  const behind = hits.filter((hit) => !isFirst(hit));
  return [...first, ...behind.map((hit) => ({ ...hit, score: Math.min(hit.score, least) }))];
}

/** The share of what the terms count that is left. */
function freshness(held: ReadonlySet<Weighed>, counts: ReadonlyMap<Weighed, number>): number {
  let [left, all] = [0, 0];
  for (const one of held) {
    left += one.weight * (counts.get(one) ?? 1);
    all += one.weight;
  }
  return all === 0 ? 0 : left / all;
}

function eachOnce(hits: readonly RankedHit[]): RankedHit[] {
  const shown = new Set<string>();
  return hits.filter(({ text, match: { start } }) => {
    const from = text.lastIndexOf("\n", start - 1) + 1;
    const passage = text.slice(Math.max(from, start - ALIKE_CHARS), start + ALIKE_CHARS);
    return !shown.has(passage) && shown.add(passage);
  });
}

/** Pure. Those that hold the weightiest terms, of equals the newest, and how many more do. */
function* planCandidates(
  terms: readonly Weighed[],
  holders: ReadonlyMap<string, readonly number[]>,
): Steps<{ best: number[]; others: number }> {
  const weights = new Map<number, number>();
  for (const { term, weight } of terms) {
    for (const seq of holders.get(term.stem) ?? [])
      weights.set(seq, (weights.get(seq) ?? 0) + weight);
    yield;
  }
  // Numbers alone are sorted several times as fast as what they belong to.
  const least = Float64Array.from(weights.values()).sort().at(-MOST_READ) ?? 0;
  yield;
  const [above, equal]: [number[], number[]] = [[], []];
  for (const [seq, weight] of weights)
    if (weight >= least) (weight > least ? above : equal).push(seq);
  yield;
  above.sort((a, b) => weights.get(b)! - weights.get(a)! || b - a);
  const newest = Float64Array.from(equal).sort().reverse();
  const best = [...above, ...newest].slice(0, MOST_READ);
  return { best, others: weights.size - best.length };
}
