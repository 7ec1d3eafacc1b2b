// Gathers what the store says to a question, within a number of tokens.
import { estimateText } from "@clew/plugin-sdk/tokens";
import { headOf } from "@clew/plugin-sdk/transcript";
import type { RankedHit } from "../search/compare.ts";
import { searchRanked } from "../search/ranked.ts";
import { surroundingsOf } from "../search/surroundings.ts";
import type { Scope } from "../store/recall.ts";
import type { StoredMessage } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import type { StoredSummary } from "../store/summary-rows.ts";
import { timeLabelOf } from "./label.ts";
import { setIn } from "./quoted.ts";

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

/** Messages that are quoted from. */
const MOST_HITS = 80;
const BOUND_MS = 2_000;
/** Characters before and behind the place. */
const BEFORE = 300;
const BEHIND = 900;

/**
 * Messages that hold more of the words come first, and rare words count more; what was said beside
 * them comes too, since an answer seldom says again what was asked.
 */
export async function gather(
  store: Store,
  {
    query,
    scope,
    within,
    maxTokens,
    signal,
  }: {
    query: string;
    scope: Scope;
    /** Only what these stand for. Absent: everything. */
    within?: readonly Pick<StoredSummary, "conversation" | "first" | "last">[] | undefined;
    maxTokens: number;
    signal?: AbortSignal | undefined;
  },
): Promise<Passages> {
  const accepts = ({ isHeartbeat, seq, conversation }: StoredMessage) =>
    isHeartbeat !== true &&
    (within?.some((of) => of.conversation === conversation && of.first <= seq && seq <= of.last) ??
      true);
  const { hits, hasMore } = await searchRanked(store, {
    ...{ query, scope, limit: MOST_HITS, skip: 0, prefersNew: false, boundMs: BOUND_MS, signal },
    accepts,
  });
  const found = await surroundingsOf(store, { hits, accepts, signal });
  const passages: Passage[] = [];
  let tokens = 0;
  for (const hit of found) {
    const passage = passageOf(hit);
    const cost = estimateText(passage.text).estimate;
    if (tokens + cost > maxTokens) return { passages, tokens, isCut: true };
    tokens += cost;
    passages.push(passage);
  }
  return { passages, tokens, isCut: hasMore };
}

function passageOf({
  message,
  text,
  match,
}: Pick<RankedHit, "message" | "text" | "match">): Passage {
  const from = Math.max(0, match.start - BEFORE);
  const piece = headOf(text.slice(from), BEFORE + BEHIND);
  const cut = [from > 0 ? "…" : "", from + piece.length < text.length ? "…" : ""];
  return {
    seq: message.seq,
    conversation: message.conversation,
    text: setIn(`${timeLabelOf(message)}: ${cut[0]}${piece}${cut[1]}`),
  };
}
