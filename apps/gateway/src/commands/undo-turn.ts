// The commands `/undo` and `/retry`, which take the newest turn of a session back.

import type { UserBlock } from "@clew/plugin-sdk/core";
import type { CommandAnswer, CommandSession } from "./answer.ts";

export async function runUndo(
  session: Pick<CommandSession, "undoTurn" | "clientWithHistory">,
): Promise<Omit<CommandAnswer, "command">> {
  const undone = await session.undoTurn();
  if (undone === null) return NOTHING;
  const taken = `Taken back: ${wordsOf(undone.content)} and all that came after it.`;
  return { ok: true, text: `${taken} ${whoSeesIt(session.clientWithHistory())}` };
}

/** A client is answered by what it brings. */
const whoSeesIt = (client: string | null): string =>
  client === null
    ? "The session file keeps it; the model sees it no more."
    : `The session file keeps it; in turns that begin here the model sees it no more. The session's client (${client}) has a history of its own and may send it again with its next request: take it back there, too.`;

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
