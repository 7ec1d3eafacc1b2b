// Summarises a text by extracting its most telling sentences, in their order.
import { estimateText } from "@clew/plugin-sdk/tokens";
import { NOTHING_TO_SUMMARISE } from "./phrases.ts";
import { splitSentences } from "./sentences.ts";
import { foldedWords, isInformative } from "./words.ts";

/** Sentences of `text`, oldest first, as lines; about `tokenLimit` tokens at most. Sentences with rare words, names and numbers come before others. */
export function summarise(text: string, tokenLimit: number): string {
  const sentences = [...new Set(splitSentences(text))].map((sentence) => ({
    sentence,
    words: [...foldedWords(sentence)].filter(isInformative),
  }));
  const frequency = new Map<string, number>();
  for (const { words } of sentences) for (const word of words) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const ranked = sentences
    .map(({ sentence, words }, index) => ({ sentence, index, score: score(words, frequency, sentences.length) }))
    .filter((item) => item.score > 0)
    .sort((first, second) => second.score - first.score || second.index - first.index);
  const chosen: typeof ranked = [];
  let left = tokenLimit;
  for (const item of ranked) {
    const cost = estimateText(`- ${item.sentence}\n`).estimate;
    if (cost > left) continue;
    left -= cost;
    chosen.push(item);
  }
  if (chosen.length === 0) return NOTHING_TO_SUMMARISE;
  return chosen
    .sort((first, second) => first.index - second.index)
    .map(({ sentence }) => `- ${sentence.replace(/^[-*] /, "")}`)
    .join("\n");
}

/** Information per root of length, so that neither a lone word nor a dump wins; numbers and identifiers count double. */
function score(words: readonly string[], frequency: ReadonlyMap<string, number>, total: number): number {
  const information = words.reduce(
    (sum, word) => sum + Math.log(1 + total / (frequency.get(word) ?? 1)) * (/[\p{N}_]/u.test(word) ? 2 : 1),
    0,
  );
  return words.length === 0 ? 0 : information / Math.sqrt(words.length + 4);
}
