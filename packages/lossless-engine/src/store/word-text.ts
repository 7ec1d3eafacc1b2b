// Cuts texts of every script into the words that the index of words knows.
import { composed } from "../messages/spelling.ts";

/** Scripts in which nothing parts one word from the next, and Hangul, where endings are joined. */
const UNPARTED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]+/gu;
const PICTURE = /\p{Extended_Pictographic}/gu;
/** Most texts have nothing of that. */
const BEYOND_LATIN = /[\u0300-\u036f\u00a9\u00ae\u0e00-\u{10ffff}]/u;
/** Marks part words for the index. */
const MARKS = /\p{M}/gu;
/** Of accents the index knows a part only. */
const ACCENTS = /[\u0300-\u036f]+/g;

/** A word of a query as the index knows it. */
export interface IndexedWord {
  readonly text: string;
  /** The index has it as the beginning of a word. */
  readonly isPrefix: boolean;
}

/** The words of a query, and what no index can be sure of. */
export interface QueryWords {
  /** Parted by what is neither letter nor number; the index finds each whatever its ending. */
  readonly words: readonly string[];
  /** What stands in a text as it is, in any case: parts of unparted text, pictures, quotes. */
  readonly literals: readonly string[];
  /** What the index is asked for: all of it stands in a message that holds words and literals. */
  readonly indexed: readonly IndexedWord[];
}

/** The text to index: of unparted text every two characters in a row are a word, and the last. */
export function wordText(text: string): string {
  if (!BEYOND_LATIN.test(text)) return text;
  return composed(text)
    .replace(ACCENTS, "")
    .replace(UNPARTED, (run) => {
      const points = [...run.replace(MARKS, "")];
      return ` ${[...pairsOf(points), points.at(-1) ?? ""].join(" ")} `;
    })
    .replace(PICTURE, (point) => ` ${nameOf(point)} `);
}

/** Pure. Text in double quotes is found as it is. */
export function queryWords(query: string): QueryWords {
  const literals = new Set<string>();
  const indexed: IndexedWord[] = [];
  const plain = composed(query)
    .replace(/"([^"]*\S[^"]*)"/g, (_, quoted: string) => {
      literals.add(quoted.trim());
      return ` ${quoted} `;
    })
    .replace(ACCENTS, "")
    .replace(UNPARTED, (run) => {
      literals.add(run);
      const points = [...run.replace(MARKS, "")];
      const pairs = pairsOf(points).map((text) => ({ text, isPrefix: false }));
      // A character alone may be followed by any other.
      indexed.push(
        ...(pairs.length > 0 ? pairs : points.map((text) => ({ text, isPrefix: true }))),
      );
      return " ";
    })
    .replace(PICTURE, (point) => {
      literals.add(point);
      indexed.push({ text: nameOf(point), isPrefix: false });
      return " ";
    });
  const words = wordsOf(plain);
  indexed.push(...words.map((text) => ({ text, isPrefix: false })));
  return { words, literals: [...literals], indexed };
}

/**
 * What the index cuts out of unparted text, every two characters in a row, and pictures; and the
 * text without them.
 */
export function unpartedIn(text: string): { pieces: string[]; rest: string } {
  const pieces: string[] = [];
  const rest = composed(text)
    .replace(UNPARTED, (run) => {
      const points = [...run.replace(MARKS, "")];
      pieces.push(...(points.length > 1 ? pairsOf(points) : points));
      return " ";
    })
    .replace(PICTURE, (point) => {
      pieces.push(point);
      return " ";
    });
  return { pieces, rest };
}

/** As the index cuts them: what is neither letter nor number parts two words. */
const wordsOf = (text: string): string[] =>
  text.split(/[^\p{L}\p{N}\p{Co}]+/u).filter((word) => word !== "");

const pairsOf = (points: readonly string[]): string[] =>
  points.slice(1).map((point, at) => `${points[at]}${point}`);

/** The index knows letters and numbers only. */
const nameOf = (point: string) => `picture${point.codePointAt(0)!.toString(16)}`;
