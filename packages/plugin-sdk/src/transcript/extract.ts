// Finds the decisions, rules, open items and exact identifiers in English text.
import { headOf } from "./text.ts";

/** Sentences and list items of `text`, without code blocks, each on one line. */
export function sentencesOf(text: string): string[] {
  return text
    .replace(/```[\s\S]*?(```|$)/g, "\n")
    .split(/\n+|(?<=[.!?])\s+(?=[^a-z])|(?<=[。！？])/)
    .map((sentence) => sentence.replace(/^\s*(?:[-*>#]+|\d+[.)])\s+/, "").trim())
    .filter((sentence) => /\p{L}{2}/u.test(sentence));
}

const DECISION =
  /\b(?:decided|decision|agreed|we(?:'ll| will) (?:use|keep|go)|let'?s (?:use|keep|go)|going with|went with|chose|chosen|settled on|instead of)\b/i;
const RULE =
  /\b(?:must(?:n't)?|never|always|do not|don't|cannot|can't|only if|at most|at least|required?|forbidden|not allowed|make sure|policy)\b/i;
const OPEN =
  /\b(?:todo|fixme|to do|next step|next,|remaining|still (?:needs?|has|have|to|missing|fails?)|not yet|needs? to|follow[- ]?up|later|pending|blocked|waiting for)\b|^\[ \]/i;

export const isDecision = (sentence: string): boolean => DECISION.test(sentence);
export const isRule = (sentence: string): boolean => RULE.test(sentence);
export const isOpenItem = (sentence: string): boolean => OPEN.test(sentence);

const IDENTIFIERS = new RegExp(
  [
    /https?:\/\/[^\s"'<>)\]}]+/, // addresses
    /[\w.+-]+@[\w-]+\.[\w.-]+/, // mail
    /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/, // UUIDs
    /(?:~|\.{1,2})?(?:\/[\w.@+-]+){2,}\/?/, // paths from a root
    /\b[\w@+-]+(?:\/[\w.@+-]+)*\.(?:[cm]?[jt]sx?|json5?|jsonl|md|py|rs|go|rb|java|c|h|cpp|hpp|cs|sh|ya?ml|toml|sql|html|css|txt|csv|lock|env)\b/, // files
    /\b[A-Z][A-Z0-9]+-\d+\b|(?<![\w&])#\d+\b/, // tickets
    /\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,}\b/, // booking codes and the like
    /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/, // hashes
    /\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b/, // names in code and ids with underscores
    /\bv?\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?\b/, // versions
  ]
    .map((pattern) => pattern.source)
    .join("|"),
  "g",
);

const MAX_CHARS = 50_000;
const MAX_IDENTIFIER = 200;

/**
 * Exact identifiers in the first 50,000 characters of `text` as they stand there, in order, each
 * once; longer ones than 200 are data.
 */
export function identifiersOf(text: string): string[] {
  // Word by word: on one endless run the pattern would look ahead from every character.
  const words = headOf(text, MAX_CHARS).split(/[\s"'`<>()[\]{}|,;]+/);
  const found = words
    .filter(({ length }) => length >= 3 && length <= MAX_IDENTIFIER)
    .flatMap((word) => word.match(IDENTIFIERS) ?? []);
  return [
    ...new Set(
      found
        .map((identifier) => identifier.replace(/[.,;:!?]+$/, ""))
        .filter(({ length }) => length >= 3),
    ),
  ];
}
