// Decides whether what a model wrote may stand as the words of a summary.
import { escapeTags, namesIn } from "@clew/plugin-sdk/transcript";

/** Of the words of a summary. */
export const MOST_CHARS = 480;
const LEAST_CHARS = 12;
/** Words in a row that nobody says three times in so few. */
const ROW = 4;
const MOST_TIMES = 2;

/** What the words are, on one line, or why they are no use. */
export type Judged =
  | { readonly isFit: true; readonly words: string }
  | { readonly isFit: false; readonly why: string };

/** Pure. `source`: what the model was given. */
export function judgeWords(answer: string, source: string): Judged {
  const words = answer
    .trim()
    .replace(/^```[a-z]*\n([\s\S]*?)\n```$/i, "$1")
    .replaceAll(/\s+/gu, " ")
    .trim()
    .toWellFormed();
  const unfit = (why: string): Judged => ({ isFit: false, why });
  if (words.length < LEAST_CHARS) return unfit("it says nothing");
  if (words.length > MOST_CHARS) return unfit("it is too long");
  if (words.length >= source.length) return unfit("it is longer than what it stands for");
  if (UNSEEN.test(words)) return unfit("it holds what nobody sees");
  if (REFUSAL.test(words)) return unfit("it refuses");
  if (escapeTags(words) !== words || SPEAKS.test(words) || ORDERS.test(words))
    return unfit("it speaks to its reader");
  if (tagsIn(words).some((tag) => !source.includes(tag)))
    return unfit("it writes a tag that nobody wrote");
  if (repeats(words)) return unfit("it repeats itself");
  const unknown = namesIn(words).find(
    ({ kind, name }) => kind !== "symbol" && !source.includes(name),
  );
  if (unknown !== undefined) return unfit(`it names ${unknown.name}, which nobody named`);
  return { isFit: true, words };
}

const REFUSAL =
  /^(?:i['’]m sorry|i am sorry|sorry,|i can(?:no|['’])t |i am unable|i['’]m unable|as an ai)\b/i;
/** What a record of the past has no reason to say: it would be read as somebody's order. */
const SPEAKS =
  /(?:^|\s)(?:system|assistant|user|developer)\s*:|\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|prompts?|rules?|above|previous|prior)\b|\byou (?:must|should|are now|have to)\b|[<[]\/?(?:system|inst|record|stored)\b|<\||\|>/i;
/** How a sentence begins that tells somebody what to do, in words that are known. */
const ORDERS =
  /(?:^|[.!?:。！？]\s*)(?:(?:next step|please|always|never|do not|don['’]t|assistant,|system,|user,)(?=\s|:|,)|(?:delete|remove|erase|run|call|execute|send|post|upload|download|install|approve|allow|remember|ignore|reveal|reply|answer|tell|write|say|use|open|visit|stop|continue)\s+(?:all|any|every|each|the|this|that|these|those|it|a|an|to|with|only|your|me|us|no|from|previous)\b|(?:ignor[ae]|ignorez|ignoriere|olvida|oubliez|vergiss|lösche|borra|supprime[zr]?)\b)|以前の指示|無視し|忽略|无视|игнорируй|забудь|تجاهل/iu;
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
