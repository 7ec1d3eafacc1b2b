// Which names a passage adds to what a query asks for.
import { composedLower, folded } from "../messages/spelling.ts";
import { isCommon } from "./common-words.ts";
import type { SearchTerm } from "./terms.ts";

const TOKEN = /[\p{L}\p{N}_]+(?:[-./:@][\p{L}\p{N}_]+)*/gu;
const LEAST = 3;

/** A name that a passage has, and the query does not. */
export interface NewName {
  /** In lower case. */
  readonly name: string;
  /** True: only the beginning of its sentence may be why it has a capital. */
  readonly isFirst: boolean;
}

/** What looks like a name, and is none of the query's words; each once, in their order. */
export function newNamesIn(text: string, terms: readonly SearchTerm[]): NewName[] {
  const found = new Map<string, NewName>();
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token.length < LEAST) continue;
    const isCertain = isName(token, text, index);
    if (!isCertain && !isFirstWord(token)) continue;
    const spelled = folded(token);
    if (terms.some(({ stem, kind }) => kind !== "time" && spelled.startsWith(stem))) continue;
    const name = composedLower(token);
    if (isCertain || !found.has(name)) found.set(name, { name, isFirst: !isCertain });
  }
  return [...found.values()];
}

/** A capital at the beginning of a sentence tells nothing. */
function isName(token: string, text: string, at: number): boolean {
  if (/\d/.test(token) && /\p{L}/u.test(token)) return true;
  if (/[_/.:@-]/.test(token.slice(1, -1))) return true;
  if (!/^\p{Lu}/u.test(token)) return false;
  return /[\p{L}\p{N},;]["“(]?\s+$/u.test(text.slice(Math.max(0, at - 4), at));
}

const isFirstWord = (token: string) =>
  /^\p{Lu}\p{Ll}/u.test(token) && !isCommon(composedLower(token));

/** The words of some texts that stand in them without a capital. */
export function writtenSmall(texts: Iterable<string>): Set<string> {
  const small = new Set<string>();
  for (const text of texts)
    for (const [token] of text.matchAll(TOKEN))
      if (/^\p{Ll}/u.test(token)) small.add(composedLower(token));
  return small;
}
