// Gathers what the store says to a question, within a number of tokens.
import { estimateText } from "@clew/plugin-sdk/tokens";
import { headOf } from "@clew/plugin-sdk/transcript";
import { type Hit, search } from "../search/search.ts";
import { wordsOf } from "../store/candidates.ts";
import type { Scope } from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import { labelOf } from "./label.ts";

/** A piece of a stored message. */
export interface Passage {
  /** Number of the message. */
  readonly seq: number;
  readonly conversation: number;
  /** What the message is, and the piece. */
  readonly text: string;
}

/** What was found, most telling first. */
export interface Passages {
  readonly passages: readonly Passage[];
  /** Estimated. */
  readonly tokens: number;
  /** True: more was found than there is room for. */
  readonly isCut: boolean;
}

/** Messages that are looked at for each word, and for all of them together. */
const MOST_HITS = 20;
/** Words of a question that are looked for one by one. */
const MOST_WORDS = 12;
const LEAST_LETTERS = 3;
const BOUND_MS = 2_000;
/** Characters before and behind the place. */
const BEFORE = 300;
const BEHIND = 900;

/** Messages that hold more of the words come first, of those the newer ones. */
export async function gather(
  store: Store,
  {
    query,
    scope,
    maxTokens,
    signal,
  }: { query: string; scope: Scope; maxTokens: number; signal?: AbortSignal | undefined },
): Promise<Passages> {
  const found = new Map<number, { hit: Hit; words: number }>();
  const words = [...new Set(wordsOf(query))].filter((word) => word.length >= LEAST_LETTERS);
  for (const word of words.slice(0, MOST_WORDS)) {
    const { hits } = await search(store, {
      ...{ mode: "words", query: word, scope, limit: MOST_HITS, boundMs: BOUND_MS },
      accepts: ({ isHeartbeat }) => isHeartbeat !== true,
      signal,
    });
    for (const hit of hits) {
      const before = found.get(hit.message.seq);
      found.set(hit.message.seq, { hit: before?.hit ?? hit, words: (before?.words ?? 0) + 1 });
    }
  }
  const ranked = [...found.values()].sort(
    (a, b) => b.words - a.words || b.hit.message.seq - a.hit.message.seq,
  );
  const passages: Passage[] = [];
  let tokens = 0;
  for (const { hit } of ranked) {
    const passage = passageOf(hit);
    const cost = estimateText(passage.text).high;
    if (tokens + cost > maxTokens) return { passages, tokens, isCut: true };
    tokens += cost;
    passages.push(passage);
  }
  return { passages, tokens, isCut: false };
}

function passageOf({ message, text, match }: Hit): Passage {
  const from = Math.max(0, match.start - BEFORE);
  const piece = headOf(text.slice(from), BEFORE + BEHIND);
  const cut = [from > 0 ? "…" : "", from + piece.length < text.length ? "…" : ""];
  return {
    seq: message.seq,
    conversation: message.conversation,
    text: `${labelOf(message)}\n${cut[0]}${piece}${cut[1]}`,
  };
}
