// Puts the answers of commands where they were given in a conversation.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { ShownAnswer, ShownEntry } from "../src/conversation/chat-view.ts";
import type { LiveTurn } from "./live-turn.ts";

export interface PlacedAnswer extends ShownAnswer {
  /** The entry that was the newest then; null = there was none. */
  afterId: string | null;
}

type Answers = Readonly<Record<string, readonly PlacedAnswer[]>>;
type Entries = readonly TranscriptEntry[];

/** Pure. The same with the turn's answer behind what the session `key` holds by now. */
export function withAnswer(
  answers: Answers,
  key: string,
  session: { entries: Entries } | null,
  { text: command, answer }: Pick<LiveTurn, "text" | "answer">,
): Answers {
  if (answer === null) return answers;
  const given = answers[key] ?? [];
  const placed: PlacedAnswer = {
    ...{ type: "command-answer", id: `answer-${given.length + 1}` },
    ...{ command: command.trim(), ...answer, afterId: session?.entries.at(-1)?.id ?? null },
  };
  return { ...answers, [key]: [...given, placed] };
}

/**
 * Pure. One whose entry is not there comes first: it is older than what is read, or a command has
 * begun a new transcript since. The same array when there are none.
 */
export function placeAnswers(
  entries: Entries,
  answers: readonly PlacedAnswer[] = [],
): readonly ShownEntry[] {
  if (answers.length === 0) return entries;
  const isKnown = new Set(entries.map(({ id }) => id));
  const after = Map.groupBy(answers, ({ afterId }) =>
    afterId !== null && isKnown.has(afterId) ? afterId : null,
  );
  const placed = entries.flatMap((entry) => [entry, ...(after.get(entry.id) ?? [])]);
  return [...(after.get(null) ?? []), ...placed];
}
