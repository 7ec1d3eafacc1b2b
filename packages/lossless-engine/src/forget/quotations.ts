// Says whether a text was made of something that said what is to be forgotten.
import { textsIn } from "../messages/placeholder.ts";
import { composedLower } from "../messages/spelling.ts";
import { isMatched, type Matcher } from "./matcher.ts";

/** Of a text that is asked for and goes on behind the end of a quotation, so much stands in it. */
const LEAST_HEAD = 12;

/**
 * Pure. `derived`: a record of a view, words of a model, or JSON of facts or of a ledger. Those who
 * quote join blanks, exchange quotation marks and leave out the end.
 */
export function isQuoted(derived: string, matcher: Matcher): boolean {
  const texts = textsOf(derived);
  if (isMatched(texts, matcher)) return true;
  if (typeof matcher !== "string") return isMatched(texts.map(plainly), matcher);
  const wanted = plainly(composedLower(matcher));
  if (wanted === "") return false;
  return texts
    .map((text) => plainly(composedLower(text)))
    .some((text) => text.includes(wanted) || endsWithin(text, wanted));
}

/** Keys of JSON are texts too: ledgers have names there. */
function textsOf(derived: string): string[] {
  try {
    const value: unknown = JSON.parse(derived);
    if (typeof value === "object" && value !== null) return [derived, ...textsAndKeysIn(value)];
  } catch {}
  return [derived];
}

const textsAndKeysIn = (value: object): string[] =>
  Object.entries(value).flatMap(([key, each]) => [
    key,
    ...(typeof each === "object" && each !== null ? textsAndKeysIn(each) : textsIn(each)),
  ]);

const plainly = (text: string): string =>
  text
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/["“”„«»‘’`]/gu, "'")
    .trim();

/** True: a quotation in `text` ends, and up to there it says how `wanted` begins. */
function endsWithin(text: string, wanted: string): boolean {
  if (wanted.length <= LEAST_HEAD) return false;
  const head = wanted.slice(0, LEAST_HEAD);
  for (let at = text.indexOf(head); at >= 0; at = text.indexOf(head, at + 1)) {
    let length = LEAST_HEAD;
    while (at + length < text.length && text[at + length] === wanted[length]) length++;
    const rest = text.slice(at + length).trimStart();
    if (rest === "" || rest.startsWith("…") || rest.startsWith("...")) return true;
  }
  return false;
}
