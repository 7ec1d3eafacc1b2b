// Searches a text for a pattern in steps whose number grows in proportion to the text.
import type { Steps } from "@clew/plugin-sdk/host";
import { Alphabet } from "./alphabet.ts";
import { Automaton } from "./automaton.ts";
import type { PatternNode } from "./parse.ts";
import { programOf } from "./program.ts";

/** Where a pattern was found. */
export interface Match {
  /** Index of its first character. */
  readonly start: number;
  /** Index behind its last. */
  readonly end: number;
}

/** Finds the first place of a pattern, the longest there; undefined: none. */
export type Matcher = (text: string) => Steps<Match | undefined>;

/** Characters read, and places of the program looked at, from one step to the next. */
const STEP = 10_000;

/** Letters match whatever their case. Throws a PatternError for a pattern that is too large. */
export function matcherOf(pattern: PatternNode): Matcher {
  const program = programOf(pattern);
  const alphabet = new Alphabet(program);
  const forward = new Automaton(program, alphabet, false);
  const backward = new Automaton(programOf(pattern, true), alphabet, true);
  return function* find(text) {
    const end = yield* lastFound(forward, alphabet, text);
    if (end === undefined) return undefined;
    return { start: (yield* lastFound(backward, alphabet, text, end))!, end };
  };
}

/** Forward: where the first match ends. From an end backward: where that match begins. */
function* lastFound(
  automaton: Automaton,
  alphabet: Alphabet,
  text: string,
  matchEnd?: number,
): Steps<number | undefined> {
  const isBackward = matchEnd !== undefined;
  const behind = isBackward ? text.codePointAt(matchEnd) : undefined;
  const side = behind === undefined ? "edge" : alphabet.letterOf(behind).side;
  let state = automaton.begin(side, isBackward);
  let found: number | undefined;
  let [spent, at] = [0, matchEnd ?? 0];
  for (;;) {
    const code = isBackward ? codeBefore(text, at) : text.codePointAt(at);
    const letter = code === undefined ? alphabet.end : alphabet.letterOf(code);
    const isNew = state.steps[letter.index] === undefined;
    const step = automaton.step(state, letter);
    if (step.isFound) found = at;
    if (step.to === undefined) return found;
    state = step.to;
    const width = code! > 0xffff ? 2 : 1;
    at += isBackward ? -width : width;
    spent += isNew ? step.cost : 1;
    if (spent < STEP) continue;
    spent = 0;
    yield;
  }
}

function codeBefore(text: string, at: number): number | undefined {
  const last = text.codePointAt(at - 1);
  if (last === undefined || last < 0xdc00 || last > 0xdfff) return last;
  const pair = text.codePointAt(at - 2);
  return pair !== undefined && pair > 0xffff ? pair : last;
}
