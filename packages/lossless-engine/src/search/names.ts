// Which names a passage adds to what a query asks for.
import { composedLower, folded } from "../messages/spelling.ts";
import type { SearchTerm } from "./terms.ts";

const TOKEN = /[\p{L}\p{N}_]+(?:[-./:@][\p{L}\p{N}_]+)*/gu;
const LEAST = 3;

/** What looks like a name, and is none of the query's words; each once, in their order. */
export function newNamesIn(text: string, terms: readonly SearchTerm[]): string[] {
  const found = new Set<string>();
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token.length < LEAST || !isName(token, text, index)) continue;
    const spelled = folded(token);
    if (!terms.some(({ stem, kind }) => kind !== "time" && spelled.startsWith(stem)))
      found.add(composedLower(token));
  }
  return [...found];
}

/** A capital at the beginning of a sentence tells nothing. */
function isName(token: string, text: string, at: number): boolean {
  if (/\d/.test(token) && /\p{L}/u.test(token)) return true;
  if (/[_/.:@-]/.test(token.slice(1, -1))) return true;
  if (!/^\p{Lu}/u.test(token)) return false;
  return /[\p{L}\p{N},;]["“(]?\s+$/u.test(text.slice(Math.max(0, at - 4), at));
}
