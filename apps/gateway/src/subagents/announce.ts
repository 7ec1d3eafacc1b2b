// Says to a session how those that it started have ended.
import type { MessageProvenance } from "@clew/plugin-sdk/core";
import { headOf } from "@clew/plugin-sdk/transcript";
import { saidBy } from "../sessions/mark-other-session.ts";
import type { Child, ChildEnd } from "./child.ts";

/** Of all replies together, what a parent is told at once; the rest stays in the transcripts. */
const REPLY_CHARS = 16_000;

/** One text for all of them, in their order. */
export function announcementOf(children: readonly Child[]): string {
  const chars = Math.floor(REPLY_CHARS / Math.max(1, children.length));
  return children.map((child) => announce(child, chars)).join("\n\n");
}

/** Whose words that text is; of several, no session is named. */
export const announcedBy = (children: readonly Child[]): MessageProvenance =>
  saidBy(children.length === 1 ? children[0]!.key : undefined, "sessions_spawn");

function announce(child: Child, replyChars: number): string {
  const { key, label, task, end, reply, plugin } = child;
  const name = label === null ? key : `"${label}" (${key})`;
  const told = end === null ? "is running" : `${HOW[end.outcome]}${reasonOf(end.reason)}`;
  const starter = plugin === null ? "you" : `plugin "${plugin.id}"`;
  const head = `The session ${name}, which ${starter} started for: ${oneLine(task)}\n\nIt ${told}.`;
  if (reply === null) return `${head} It gave no reply.`;
  const shown = headOf(reply, replyChars);
  const rest = reply.length - shown.length;
  const where =
    child.cleanup === "delete" ? "cut" : `sessions_history with sessionKey "${key}" shows them`;
  const more = rest > 0 ? `\n[${rest} more characters: ${where}]` : "";
  return `${head} Its last reply:\n\n${shown}${more}`;
}

const HOW: Readonly<Record<ChildEnd["outcome"], string>> = {
  completed: "has completed",
  failed: "has failed",
  cancelled: "was cancelled",
  timeout: "was ended, because its time was over",
  lost: "was lost, because the program that ran it ended",
};

const reasonOf = (reason: string | null): string =>
  reason === null ? "" : ` (${reason.replace(/\.$/, "")})`;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
