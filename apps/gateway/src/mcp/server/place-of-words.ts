// Finds the words of a search in a text, and quotes the place.

/** Characters on both sides of a place. */
const AROUND = 120;

/**
 * Pure. Undefined unless every word stands in it, in any case; "words in quotes" stand together.
 * The place is that of the longest of them.
 */
export function placeOfWords(text: string, query: string): string | undefined {
  const flat = text.replace(/\s+/g, " ");
  const lower = flat.toLowerCase();
  const words = wordsOf(query);
  if (words.length === 0 || !words.every((word) => lower.includes(word))) return undefined;
  const longest = words.reduce((one, other) => (other.length > one.length ? other : one));
  const at = lower.indexOf(longest);
  const from = Math.max(0, at - AROUND);
  const to = at + longest.length + AROUND;
  return `${from > 0 ? "…" : ""}${flat.slice(from, to).trim()}${to < flat.length ? "…" : ""}`;
}

/** Pure. In small letters. */
export const wordsOf = (query: string): string[] =>
  [...query.toLowerCase().matchAll(/"([^"]+)"|\S+/g)]
    .map(([whole, quoted]) => (quoted ?? whole).replace(/\s+/g, " ").trim())
    .filter((word) => word !== "");
