// The command `/export`, which writes a conversation down as Markdown.

import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { type ChatItem, foldChat, type ReplyPart } from "../conversation/chat-view.ts";
import { counted } from "../text/number.ts";
import type { CommandAnswer, CommandSession } from "./answer.ts";

export async function runExport(
  session: Pick<CommandSession, "export">,
): Promise<Omit<CommandAnswer, "command">> {
  const file = await session.export();
  if (file === null)
    return {
      ok: false,
      text: "Nothing was said in this session yet, so there is nothing to write down.",
    };
  return { ok: true, text: `Written to ${file}.`, data: { file } };
}

/** Pure. As people were shown it, with thoughts and tools. */
export function conversationAsMarkdown(title: string, branch: readonly TranscriptEntry[]): string {
  const items = foldChat(branch).map(sectionOf);
  return `# ${title.replace(/\s+/g, " ")}\n\n${items.join("\n\n")}\n`;
}

function sectionOf(item: ChatItem): string {
  switch (item.kind) {
    case "person":
      return `## You\n\n${item.text}${item.images === 0 ? "" : `\n\n(${counted(item.images, "image")})`}`;
    case "reply": {
      const parts = item.parts.map(partOf);
      return [
        "## Reply",
        ...parts,
        ...(item.ending === null ? [] : [`*${item.ending.text}*`]),
      ].join("\n\n");
    }
    case "mark":
      return item.detail === null
        ? `---\n\n*${item.text}*`
        : `---\n\n*${item.text}*\n\n${quoted(item.detail)}`;
    case "answer":
      return `*${item.command}*\n\n${quoted(item.text)}`;
  }
}

function partOf(part: ReplyPart): string {
  if (part.kind === "text") return part.text;
  if (part.kind === "thinking") return quoted(part.text);
  const output = part.output === null ? [] : [fenced(part.output)];
  const isBad = part.state === "failed" || part.state === "refused";
  return [`**${part.name}**${isBad ? ` (${part.state})` : ""}`, fenced(part.input), ...output].join(
    "\n\n",
  );
}

const quoted = (text: string): string => text.replace(/^/gm, "> ");

/** Longer than any fence in it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
