// Which verbatim passages ground most of what a session goes back to.
import { escapeTags, withoutUnseen } from "../messages/wrap-record.ts";
import { type Steps, stepsAtOnce } from "../slices.ts";
import { estimateText } from "../tokens/estimate.ts";
import type { Passage } from "./passages.ts";
import { groundOf } from "./rank.ts";
import type { LedgerState } from "./state.ts";

/** Passages as a model reads them. */
export interface AnchorText {
  /** Empty when there are none, or when none fits. */
  text: string;
  /** What they name. */
  names: ReadonlySet<string>;
}

/** How much may be quoted. */
interface AnchorOptions {
  maxTokens: number;
  /** Names that stand in what is kept: no passage is quoted for them. Absent: none. */
  without?: ReadonlySet<string>;
}

/**
 * The passages that name most of what is likely to be needed, each name counted once, in at most
 * `maxTokens`; oldest first, each after the id of its entry. Deterministic.
 */
export const renderAnchors = (state: LedgerState, options: AnchorOptions): AnchorText =>
  stepsAtOnce(anchorSteps(state, options));

/** The same in steps. Each passage is weighed again only when one of its names was chosen. */
export function* anchorSteps(
  state: LedgerState,
  { maxTokens, without = new Set() }: AnchorOptions,
): Steps<AnchorText> {
  const worth = new Map([...without].map((name) => [name, 0]));
  const worthOf = (name: string) => {
    const known = worth.get(name) ?? groundOf(name, state);
    worth.set(name, known);
    return known;
  };
  const names = new Set<string>();
  const gainOf = (candidate: Candidate) => {
    let gain = 0;
    for (const name of candidate.names) if (!names.has(name)) gain += worthOf(name);
    return gain / candidate.tokens;
  };
  let rest: Candidate[] = [];
  const naming = new Map<string, Candidate[]>();
  for (const passage of state.passages.values()) {
    yield;
    const line = lineOf(passage);
    const tokens = estimateText(line).estimate + 1;
    const candidate = { ...passage, order: rest.length, line, tokens, gain: 0 };
    candidate.gain = gainOf(candidate);
    rest.push(candidate);
    for (const name of passage.names) {
      const others = naming.get(name);
      if (others === undefined) naming.set(name, [candidate]);
      else others.push(candidate);
    }
  }
  const chosen: Candidate[] = [];
  for (let left = maxTokens; ; ) {
    yield;
    rest = rest.filter(({ tokens }) => tokens <= left);
    const best = mostGaining(rest);
    if (best === undefined) break;
    rest.splice(rest.indexOf(best), 1);
    left -= best.tokens;
    chosen.push(best);
    const fresh = best.names.filter((name) => !names.has(name));
    for (const name of fresh) names.add(name);
    const changed = new Set(fresh.flatMap((name) => naming.get(name)!));
    for (const candidate of changed) candidate.gain = gainOf(candidate);
  }
  const lines = chosen.sort((a, b) => a.order - b.order).map(({ line }) => line);
  return { text: lines.join("\n"), names };
}

/** The first of those that gain most; undefined: none gains anything. */
function mostGaining(candidates: readonly Candidate[]): Candidate | undefined {
  let best: Candidate | undefined;
  for (const candidate of candidates) if (candidate.gain > (best?.gain ?? 0)) best = candidate;
  return best;
}

interface Candidate extends Passage {
  order: number;
  line: string;
  tokens: number;
  /** What its names that are not chosen yet are worth, by token. */
  gain: number;
}

const lineOf = ({ entryId, text }: Passage) =>
  `@${entryId}: ${escapeTags(withoutUnseen(text)).replace(LIKE_ANOTHER, "$1> ")}`;

/** Only its first line begins like one: a passage cannot pretend to be two. */
const LIKE_ANOTHER = /([\n\u2028\u2029]\s{0,80})(?=[@＠﹫]\s?\S{1,80}?\s?[:：])/g;
