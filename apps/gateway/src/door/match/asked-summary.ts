// Keeps what a conversation was when a summary of it was asked for.
import { type Branch, lengthOfCommonStart } from "./branches.ts";
import { commonOrder } from "./common-order.ts";
import { isAnchor } from "./sketch.ts";
import type { WordMark } from "./word-marks.ts";

export interface AskedSummary {
  /** True: the request was taken for a turn, and is stored. */
  isTurn: boolean;
  /** Of the request that asked for it. */
  end: string;
  /** Of all that it had; the wish is the last one. */
  tokens: readonly string[];
  /** Places of those that are stored nowhere. */
  unstored: ReadonlySet<number>;
  /** What was replied; none of a reply to a turn, nor as long as there is no reply. */
  texts: readonly string[];
  /** By what the reply to a turn is found in a longer text. Absent: nothing tells it. */
  mark?: WordMark;
}

/** A client compacts one window after another. */
const MOST_ASKED = 4;

interface Asking {
  kind: "turn" | "side" | "compaction";
  end: string;
  kept: number;
  asks?: true;
  unstored?: readonly number[];
}

/**
 * With one request more: `branches` have it already if it is a turn, else its tokens are the first
 * of `before` and `added`.
 */
export function askedWith(
  { asked, branches }: { asked: readonly AskedSummary[]; branches: readonly Branch[] },
  { kind, end, kept, asks, unstored: places }: Asking,
  added: readonly string[],
  before: readonly string[],
): readonly AskedSummary[] {
  const isTurn = kind === "turn";
  const own = branches[0]!.tokens;
  const left = isTurn ? storedWith(stillOpen(asked, branches), own) : asked;
  if (!asks) return left;
  const again = left.find((one) => one.end === end);
  const tokens = isTurn ? own : [...before.slice(0, kept), ...added];
  const next = { isTurn, end, tokens, unstored: new Set(places), texts: again?.texts ?? [] };
  return [...left.filter((one) => one !== again), next].slice(-MOST_ASKED);
}

/** `texts` and `mark`: of the reply to the request that ended there. */
export const repliedSummary = (
  asked: readonly AskedSummary[],
  end: string,
  { texts, mark }: { texts: readonly string[]; mark: WordMark | undefined },
): readonly AskedSummary[] =>
  asked.map((one) => {
    if (one.end !== end) return one;
    if (one.isTurn) return { ...one, ...(mark && { mark }) };
    return { ...one, texts: [...one.texts, ...texts] };
  });

/** Of what a turn brings the rest is stored from then on. */
const storedWith = (
  asked: readonly AskedSummary[],
  tokens: readonly string[],
): readonly AskedSummary[] =>
  asked.map((one) => {
    if (one.unstored.size === 0) return one;
    const same = lengthOfCommonStart(one.tokens, tokens);
    return { ...one, unstored: new Set([...one.unstored].filter((place) => place >= same)) };
  });

/**
 * Who asked for a summary in a turn and went on behind the reply wanted to read it; elsewhere the
 * reply may still be what its client goes on by.
 */
const stillOpen = (
  asked: readonly AskedSummary[],
  branches: readonly Branch[],
): readonly AskedSummary[] =>
  asked.filter(({ isTurn, end }) => !isTurn || branches.some(({ tip }) => tip === end));

/**
 * For messages of a request that goes on by the summary, each by its place in `tokens`, where it
 * was when the summary was asked for. What stands right behind the summary, from `behind` on, is
 * the end of that; what stands in front of it (`summary` is its place) is some of the rest, the
 * newest words rather than older ones.
 */
export function placesWhenAsked(
  { tokens: before }: AskedSummary,
  tokens: readonly string[],
  { summary, behind }: { summary: number; behind: number },
): Map<number, number> {
  const history = before.slice(0, -1);
  const places = new Map<number, number>();
  const { from: left, kept } = keptRun(history, tokens.slice(behind));
  for (let at = 0; at < kept; at++) places.set(behind + at, left + at);
  const front = tokens.slice(0, summary).reverse();
  for (const [at, place] of commonOrder(history.slice(0, left).reverse(), front))
    places.set(summary - 1 - at, left - 1 - place);
  return places;
}

/**
 * The longest run that `next` begins with, the last of several: mostly up to the end, before it
 * where the client has taken something back since. Words alone tell nothing there.
 */
function keptRun(before: readonly string[], next: readonly string[]) {
  let found = { from: before.length, kept: 0 };
  for (let from = before.length - 1; from >= 0; from--) {
    let kept = 0;
    while (kept < next.length && before[from + kept] === next[kept]) kept++;
    const isRun = from + kept === before.length || next.slice(0, kept).some(isAnchor);
    if (kept > found.kept && isRun) found = { from, kept };
  }
  return found;
}
