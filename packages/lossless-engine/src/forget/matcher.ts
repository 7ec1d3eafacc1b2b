// Says whether a text that is to be forgotten stands in something.
import { type AgentMessage, ContextEngineError } from "@clew/plugin-sdk/core";
import { type Steps, stepsAtOnce, stepsInSlices } from "@clew/plugin-sdk/host";
import { namesKept, textsGone, textsIn } from "../messages/placeholder.ts";
import { searchTextOf } from "../messages/search-text.ts";
import { composed, composedLower } from "../messages/spelling.ts";
import { literalsOf } from "../search/pattern/literals.ts";
import { matcherOf } from "../search/pattern/matcher.ts";
import { PatternError, parsePattern, unsearchable } from "../search/pattern/parse.ts";
import { readingsOf } from "./readings.ts";

/** A regular expression that is looked for in time proportional to the text, whatever it says. */
export interface TextPattern {
  /** As it was written. */
  readonly source: string;
  /** True: it is found in this text. Letters match whatever their case. */
  isIn(text: string): boolean;
  /** The same in steps, for long texts. */
  stepsIn(text: string): Steps<boolean>;
  /** Where it is found first in a text that is in Unicode's NFC; undefined: nowhere. */
  placeIn(
    composedText: string,
  ): Steps<{ readonly start: number; readonly end: number } | undefined>;
  /** Texts that stand in everything that it finds, in either case; none are certain: []. */
  readonly literals: readonly string[];
}

/** A text in any case, or a regular expression. */
export type Matcher = string | TextPattern;

/**
 * The regular expressions of `lcm_grep`. Throws REQUEST_INVALID for what is not offered (references
 * to groups, look-around), and for a pattern that is found in everything.
 */
export function textPattern(source: string): TextPattern {
  const { find, literals } = matcherFor(source);
  function* stepsIn(text: string): Steps<boolean> {
    return (yield* find(composed(text))) !== undefined;
  }
  const isIn = (text: string) => stepsAtOnce(stepsIn(text));
  if (isIn("")) throw refused(new PatternError("it is found in every text"));
  return { source, isIn, stepsIn, placeIn: find, literals };
}

function matcherFor(source: string) {
  try {
    const pattern = parsePattern(composed(source));
    return { find: matcherOf(pattern), literals: literalsOf(pattern) };
  } catch (cause) {
    if (!(cause instanceof PatternError)) throw cause;
    throw refused(cause);
  }
}

const refused = (cause: PatternError) =>
  new ContextEngineError(
    "REQUEST_INVALID",
    `${unsearchable(cause)}; mend it, or look for plain words instead.`,
    { cause },
  );

/**
 * All that a search finds the message by, and all other texts that it holds, but for those that
 * say what kind of message it is: everybody's say so.
 */
export const isMessageMatched = (message: AgentMessage, matcher: Matcher): boolean =>
  isMatched(matchedTexts(message), matcher);

const matchedTexts = (message: AgentMessage): string[] => [
  ...[...textsGone(message), ...namesKept(message)],
  searchTextOf(message),
];

/** The same; others have their turn meanwhile. */
export async function isMessageMatchedInSlices(
  message: AgentMessage,
  matcher: Matcher,
): Promise<boolean> {
  if (typeof matcher === "string") return isMessageMatched(message, matcher);
  for (const text of matchedTexts(message).flatMap(readingsOf))
    if (await stepsInSlices(matcher.stepsIn(text))) return true;
  return false;
}

/** Texts of any depth are looked at, each for itself, also as JSON. */
export function isMatched(value: unknown, matcher: Matcher): boolean {
  const texts = textsIn(value).flatMap(readingsOf);
  if (typeof matcher !== "string") return texts.some((text) => matcher.isIn(text));
  const wanted = composedLower(matcher);
  return wanted !== "" && texts.some((text) => composedLower(text).includes(wanted));
}
