// Decides whether what a model wrote may stand as the words of a summary.
import { escapeTags, namesIn } from "@clew/plugin-sdk/transcript";
import { speaksToReader } from "./orders.ts";

/** Of the words of a summary. */
export const MOST_CHARS = 480;
const LEAST_CHARS = 12;
/** Of an answer with all that is no word. */
const MOST_ANSWER_CHARS = 8 * MOST_CHARS;
/** Words in a row that nobody says three times in so few. */
const ROW = 4;
const MOST_TIMES = 2;

/** What the words are, on one line, or why they are no use. */
export type Judged =
  | { readonly isFit: true; readonly words: string }
  | { readonly isFit: false; readonly why: string };

/** Pure. `source`: what the model was given. */
export function judgeWords(answer: string, source: string): Judged {
  const unfit = (why: string): Judged => ({ isFit: false, why });
  // Before anything is done with it: some models never end.
  if (answer.length > MOST_ANSWER_CHARS) return unfit("it is too long");
  const words = answer
    .trim()
    .replace(/^```[a-z]*\n([\s\S]*?)\n```$/i, "$1")
    .replaceAll(/\s+/gu, " ")
    .trim()
    .toWellFormed();
  if (words.length < LEAST_CHARS) return unfit("it says nothing");
  if (words.length > MOST_CHARS) return unfit("it is too long");
  if (words.length >= source.length) return unfit("it is longer than what it stands for");
  if (UNSEEN.test(words)) return unfit("it holds what nobody sees");
  if (REFUSAL.test(words)) return unfit("it refuses");
  const names = namesIn(words).filter(({ kind }) => kind !== "symbol");
  const spoken = names.reduce((text, { name }) => text.replaceAll(name, " "), words);
  if (escapeTags(words) !== words || speaksToReader(spoken))
    return unfit("it speaks to its reader");
  const tags = new Set(tagsIn(source));
  if (tagsIn(words).some((tag) => !tags.has(tag)))
    return unfit("it writes a tag that nobody wrote");
  if (repeats(words)) return unfit("it repeats itself");
  const told = [...names, ...numbersIn(words)];
  const unknown = told.find((each) => !isNamedIn(source, each));
  if (unknown !== undefined) return unfit(`it names ${unknown.name}, which nobody named`);
  return { isFit: true, words };
}

/** Those that somebody counted together have fewer digits. */
const numbersIn = (text: string): { kind: "id"; name: string }[] =>
  (text.match(/(?<![\p{L}\p{N}_])\d(?:[\d.,]*\d){2,}(?![\p{L}\p{N}_])/gu) ?? []).map((name) => ({
    ...{ kind: "id", name },
  }));

const INSIDE = /[\p{L}\p{N}_]/u;
const JOINS = /[-.@,]/;

/** As a whole: LUX-1 is no part of LUX-17. A file may have lost its folders, a folder its files. */
function isNamedIn(source: string, { kind, name }: { kind: string; name: string }): boolean {
  for (let at = source.indexOf(name); at >= 0; at = source.indexOf(name, at + 1)) {
    const end = at + name.length;
    const goesOn = (next: string | undefined, after: string | undefined) =>
      next !== undefined &&
      (INSIDE.test(next) ||
        (JOINS.test(next) && after !== undefined && INSIDE.test(after)) ||
        (next === "/" && kind !== "path"));
    const isPart = goesOn(source[at - 1], source[at - 2]) || goesOn(source[end], source[end + 1]);
    if (!isPart) return true;
  }
  return false;
}

const REFUSAL =
  /^(?:i['’]m sorry|i am sorry|sorry,|i can(?:no|['’])t |i am unable|i['’]m unable|as an ai)\b/i;
/** Control characters, and marks that hide or turn a text; joiners of letters are none. */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}]/u;

const tagsIn = (text: string): string[] => text.match(/<[/!?]?\p{L}[\p{L}\p{N}_:-]*/gu) ?? [];

function repeats(text: string): boolean {
  const words = text.toLowerCase().split(" ");
  const times = new Map<string, number>();
  for (let at = 0; at + ROW <= words.length; at++) {
    const row = words.slice(at, at + ROW).join(" ");
    const now = (times.get(row) ?? 0) + 1;
    if (now > MOST_TIMES) return true;
    times.set(row, now);
  }
  return false;
}
