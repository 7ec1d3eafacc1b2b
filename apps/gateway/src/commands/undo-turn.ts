// The commands `/undo` and `/retry`, which take the newest turn of a session back.

import type { UserBlock } from "@clew/plugin-sdk/core";
import type { CommandAnswer, CommandSession } from "./answer.ts";

export async function runUndo(
  session: Pick<CommandSession, "undoTurn">,
): Promise<Omit<CommandAnswer, "command">> {
  const undone = await session.undoTurn();
  if (undone === null) return NOTHING;
  const text = `Taken back: ${wordsOf(undone.content)} and all that came after it. The session file keeps it; the model sees it no more.`;
  return { ok: true, text };
}

/** The same words are said again. */
export async function runRetry(
  session: Pick<CommandSession, "undoTurn">,
): Promise<Omit<CommandAnswer, "command">> {
  const undone = await session.undoTurn();
  if (undone === null) return NOTHING;
  const { content } = undone;
  return { ok: true, text: `Said again: ${wordsOf(content)}.`, say: content };
}

const NOTHING = {
  ok: false,
  text: "There is no turn to take back: nobody said anything since the session began, was compacted or reset.",
};

const MOST_WORDS = 60;

function wordsOf(content: string | UserBlock[]): string {
  const text =
    typeof content === "string"
      ? content
      : content.map((block) => (block.type === "text" ? block.text : "[image]")).join(" ");
  const line = text.replace(/\s+/g, " ").trim();
  return `"${line.length > MOST_WORDS ? `${line.slice(0, MOST_WORDS).trimEnd()}…` : line}"`;
}
