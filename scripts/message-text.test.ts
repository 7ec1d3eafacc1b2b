import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { trackedFiles } from "./tracked-files.ts";

/** Where others speak in words only, and what they say has to be understood. */
const FOREIGN_WORDS: Record<string, string> = {
  "packages/engine-core/src/engine/rejected-keys.ts":
    "older engines reject parameters they do not know in words",
  "packages/engine-core/src/engine/frozen-write.ts": "the platform tells a frozen object in words",
  "packages/engine-core/src/engine/transient.ts":
    "what wraps SQLite's errors often keeps nothing but the words",
  "packages/providers/src/shared/overflow.ts": "providers tell an overflow in words",
  "packages/providers/src/shared/wire-errors.ts": "providers tell failures in words",
  "packages/providers/src/offline/summary.ts": "the offline model reads its prompt as a model does",
  "packages/transcript-policy/src/passes/pair-tool-results.ts":
    "transcripts of other programs mark a missing result by its text",
  "packages/legacy-engine/src/compaction/prune-step.ts":
    "the reason of a stored prune record is one word, not a sentence",
};

const SENTENCE = "(?:message|reason|errorMessage|detail|notice|problem|stderr|warning)";
const COMPARISONS = [
  // x.message.startsWith("…"), reason?.includes("…")
  `\\b${SENTENCE}\\)?\\??\\.(?:startsWith|endsWith|includes|match|search|indexOf)\\((?!"\\\\n")`,
  // /…/.test(x.message)
  `\\.(?:test|exec)\\((?:[\\w.?!]*\\.)?${SENTENCE}\\b`,
  // x.message !== SOME_SENTENCE
  `\\b(?:${SENTENCE}|text)\\)? [!=]== [A-Z][A-Z_]+\\b(?![.(])`,
  // x.text === y.message; a message alone is often a message of a conversation
  `\\b(?:reason|errorMessage|detail|notice|problem|text)\\)? [!=]== [\\w.]+\\.${SENTENCE}\\b`,
  // === "two words", and case "two words": whatever is compared, it is a sentence
  `(?:[!=]== |\\bcase )["\`][A-Za-z][^"\`\\n]* [^"\`\\n]*["\`]`,
].map((pattern) => new RegExp(pattern));

/** Lines that compare what is written for people, each statement on one line. */
function comparisons(source: string): string[] {
  const code = source.replace(/^\s*(?:\/\/|\/?\*).*$/gm, "").replace(/\s*\n\s*(?=[.?!=])/g, " ");
  return code
    .split("\n")
    .map((line) => line.replace(/\s+([.?])/g, "$1").trim())
    .filter((line) => COMPARISONS.some((pattern) => pattern.test(line)));
}

const sources = trackedFiles().filter(
  (path) =>
    /^(?:packages|apps|scripts)\/.*\.(?:tsx?|mjs)$/.test(path) &&
    !/\.test\.ts$|fixtures|\/dist\//.test(path),
);

describe("the text of a message", () => {
  it("is compared nowhere: what happened is told by a code beside it", () => {
    const found = sources
      .filter((path) => !(path in FOREIGN_WORDS))
      .flatMap((path) => comparisons(readFileSync(path, "utf8")).map((line) => `${path}: ${line}`));
    expect(found).toEqual([]);
  });

  it("is understood where it is foreign, and the list of those places is true", () => {
    const exempt = Object.keys(FOREIGN_WORDS);
    expect(exempt.filter((path) => !sources.includes(path))).toEqual([]);
  });

  it.each([
    'if (report.reason === "dry run") {',
    "if (result.reason !== NO_CONVERSATION) return;",
    'finding.text === "all is well"',
    'error.message.startsWith("There is")',
    'reason?.includes("locked")',
    "warnings.filter((warning) => warning.startsWith(path))",
    "if (/too long/.test(error.message)) retry();",
    'switch (outcome) { case "not applicable": }',
    'error.message\n    .includes("locked")',
    "if (last.text === problem.message) skip();",
  ])("is recognised as compared in %j", (source) => {
    expect(comparisons(source)).toHaveLength(1);
  });

  it.each([
    'if (report.code === "dry-run") {',
    "if (reason !== undefined) lines.push(reason);",
    'message.role === "user"',
    "output.line(report.reason);",
    "message === event.message ? event : other",
    '// a comment on reason === "dry run"',
  ])("is not seen where it is only shown, in %j", (source) => {
    expect(comparisons(source)).toEqual([]);
  });
});
