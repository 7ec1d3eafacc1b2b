// By what the words of a reply are found again inside a longer text.
import { contentHash } from "../../text/content-hash.ts";

/** Of one reply; neither letters' case nor signs between words count. */
export interface WordMark {
  /** Hash of its first words. */
  start: string;
  /** How many words it has. */
  words: number;
  /** Hash of all of them. */
  whole: string;
}

const START = 6;

/** What is shorter is said by anybody. */
const LEAST_WORDS = 12;

export function wordMark(text: string): WordMark | undefined {
  const words = wordsOf(text);
  if (words.length < LEAST_WORDS) return undefined;
  return {
    start: hashOf(words, 0, START),
    words: words.length,
    whole: contentHash(words.join(" ")),
  };
}

/** Those of `marks` whose words stand in one of the texts in a row. */
export function marksWithin<Mark extends WordMark>(
  texts: readonly string[],
  marks: readonly Mark[],
): Set<Mark> {
  const byStart = Map.groupBy(marks, ({ start }) => start);
  const found = new Set<Mark>();
  for (const words of texts.map(wordsOf))
    for (let at = 0; at + START <= words.length; at++)
      for (const mark of byStart.get(hashOf(words, at, START)) ?? [])
        if (contentHash(words.slice(at, at + mark.words).join(" ")) === mark.whole) found.add(mark);
  return found;
}

const wordsOf = (text: string): string[] =>
  // A text within JSON has its line ends as signs.
  text
    .normalize()
    .toLowerCase()
    .replaceAll("\\n", "\n")
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** FNV-1a, 32 bits. */
function hashOf(words: readonly string[], from: number, count: number): string {
  let hash = 2_166_136_261;
  for (let at = from; at < from + count; at++) {
    const word = words[at]!;
    for (let letter = 0; letter < word.length; letter++)
      hash = Math.imul(hash ^ word.charCodeAt(letter), 16_777_619) >>> 0;
    hash = Math.imul(hash ^ 32, 16_777_619) >>> 0;
  }
  return hash.toString(36);
}
