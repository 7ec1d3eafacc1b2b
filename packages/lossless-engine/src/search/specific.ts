// How much a text says that others do not.

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** The words by which a text is judged: its rarest. */
const RAREST = 3;

/**
 * Of each text, 0 where all its words stand in all others, 1 where its rarest stand nowhere else.
 * An answer names something; small talk is what was said a hundred times.
 */
export function specificOf(texts: readonly string[]): number[] {
  const words = texts.map((text) => [...new Set(text.toLowerCase().match(WORD) ?? [])]);
  const holders = new Map<string, number>();
  for (const word of words.flat()) holders.set(word, (holders.get(word) ?? 0) + 1);
  const most = Math.log(1 + texts.length);
  return words.map((own) => {
    const rarest = own
      .map((word) => Math.log((1 + texts.length) / holders.get(word)!))
      .sort((a, b) => b - a)
      .slice(0, RAREST);
    return rarest.reduce((sum, one) => sum + one, 0) / (RAREST * most || 1);
  });
}
