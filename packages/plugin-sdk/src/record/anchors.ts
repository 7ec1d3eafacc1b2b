// Which verbatim passages ground most of what a session goes back to.
import { escapeTags, withoutUnseen } from "../messages/wrap-record.ts";
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

/**
 * The passages that name most of what is likely to be needed, each name counted once, in at most
 * `maxTokens`; oldest first, each after the id of its entry. Deterministic.
 */
export function renderAnchors(
  state: LedgerState,
  {
    maxTokens,
    without = new Set(),
  }: {
    maxTokens: number;
    /** Names that stand in what is kept: no passage is quoted for them. Absent: none. */
    without?: ReadonlySet<string>;
  },
): AnchorText {
  const worth = new Map([...without].map((name) => [name, 0]));
  const worthOf = (name: string) => {
    const known = worth.get(name) ?? groundOf(name, state);
    worth.set(name, known);
    return known;
  };
  const rest = new Set(
    [...state.passages.values()].map((passage, order): Candidate => {
      const line = lineOf(passage);
      return { ...passage, order, line, tokens: estimateText(line).estimate + 1 };
    }),
  );
  const names = new Set<string>();
  const chosen: Candidate[] = [];
  let left = maxTokens;
  for (;;) {
    let best: Candidate | undefined;
    let most = 0;
    for (const candidate of rest) {
      if (candidate.tokens > left) {
        rest.delete(candidate);
        continue;
      }
      let gain = 0;
      for (const name of candidate.names) if (!names.has(name)) gain += worthOf(name);
      gain /= candidate.tokens;
      if (gain > most) [best, most] = [candidate, gain];
    }
    if (best === undefined) break;
    rest.delete(best);
    left -= best.tokens;
    chosen.push(best);
    for (const name of best.names) names.add(name);
  }
  const lines = chosen.sort((a, b) => a.order - b.order).map(({ line }) => line);
  return { text: lines.join("\n"), names };
}

interface Candidate extends Passage {
  order: number;
  line: string;
  tokens: number;
}

const lineOf = ({ entryId, text }: Passage) =>
  `@${entryId}: ${escapeTags(withoutUnseen(text)).replace(LIKE_ANOTHER, "$1> ")}`;

/** Only its first line begins like one: a passage cannot pretend to be two. */
const LIKE_ANOTHER = /([\n\u2028\u2029]\s{0,80})(?=[@＠﹫]\s?\S{1,80}?\s?[:：])/g;
