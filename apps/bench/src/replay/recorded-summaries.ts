// Answers whoever wants a summary with what the recorded client's model summed up.
import type { ModelPort } from "@clew/engine-core";
import { type TranscriptEntry, textOf } from "@clew/plugin-sdk/transcript";

/** Of an entry that tells where a recorded client compacted. */
const OBSERVED = "observed-compaction";

/** Pure: the summaries of a recorded session, oldest first. */
export const summariesIn = (branch: readonly TranscriptEntry[]): string[] =>
  branch.flatMap((entry) => {
    if (entry.type !== "custom" || entry.customType !== OBSERVED) return [];
    const { summary } = (entry.data ?? {}) as { summary?: unknown };
    return typeof summary === "string" ? [summary] : [];
  });

/** Words of a line that tells something. */
const LEAST_WORDS = 4;
const WORD = /[\p{L}\p{N}_./-]{4,}/gu;
const MOST_WORDS = 200;

/**
 * Pure: a recorded model's own lines about what is asked about, those first that share most words
 * with it, rare ones more, in so many words as are asked for. A model that sums up a session at its
 * end never saw its parts alone: this is as near as a recording comes. Empty: none shares any.
 */
export function recordedAnswer(summaries: readonly string[], asked: string, given: string): string {
  const lines = summaries.flatMap((summary) =>
    summary
      .split("\n")
      .map((line) =>
        line
          .replace(/^[\s#>*+\d.-]+/, "")
          .replaceAll("**", "")
          .trim(),
      )
      .filter((line) => line.split(/\s+/).length >= LEAST_WORDS),
  );
  const sets = lines.map((line) => new Set(wordsOf(line)));
  const times = new Map<string, number>();
  for (const set of sets) for (const word of set) times.set(word, (times.get(word) ?? 0) + 1);
  const about = new Set(wordsOf(given));
  const scored = sets
    .map((set, at) => ({
      at,
      score: [...set].reduce((sum, word) => sum + (about.has(word) ? 1 / times.get(word)! : 0), 0),
    }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score);
  const most = Number(/at most (\d+) words/.exec(asked)?.[1] ?? MOST_WORDS);
  let left = most;
  const chosen = scored.filter(({ at }) => {
    const count = lines[at]!.split(/\s+/).length;
    if (count > left) return false;
    left -= count;
    return true;
  });
  return chosen
    .sort((one, other) => one.at - other.at)
    .map(({ at }) => lines[at]!.replace(/[.:;]?$/, "."))
    .join(" ");
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(WORD) ?? [];

/** A model that answers so. */
export const recordedModel =
  (summaries: readonly string[]): ModelPort["complete"] =>
  async (call) => {
    const given = call.messages.map(textOf).join("\n");
    const text = recordedAnswer(summaries, `${call.systemPrompt}\n${given}`, given);
    return {
      ok: true,
      message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" },
    };
  };
