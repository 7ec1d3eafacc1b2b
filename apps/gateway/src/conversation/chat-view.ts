// Turns transcript entries into the items that a chat shows.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import {
  type OtherSession,
  otherSessionOf,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { type ToolEnd, toolEndOf } from "../approvals/refused.ts";
import { shortName } from "../sessions/keys.ts";
import { countImages, shownPersonText, textIn } from "../text/shown-text.ts";
import { visibleJson } from "../text/visible.ts";

export type ReplyPart =
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string }
  | {
      kind: "tool";
      callId: string;
      name: string;
      input: string;
      state: "waiting" | "running" | ToolEnd;
      output: string | null;
    };

export type ToolPart = Extract<ReplyPart, { kind: "tool" }>;

/** How a reply ended when it did not end by itself. */
export interface ReplyEnding {
  kind: "stopped" | "failed" | "cut";
  text: string;
}

export type ChatItem =
  | { kind: "person"; id: string; text: string; images: number }
  /** All that the model did between two messages of a person. */
  | { kind: "reply"; id: string; parts: readonly ReplyPart[]; ending: ReplyEnding | null }
  /** A mark in the conversation, e.g. where older history became a summary. */
  | { kind: "mark"; id: string; text: string; detail: string | null }
  /** What the gateway answered to a command; told on this page only. */
  | { kind: "answer"; id: string; command: string; text: string; isRefusal: boolean };

/** The answer of a command, in the place where it was given. */
export interface ShownAnswer {
  type: "command-answer";
  id: string;
  command: string;
  text: string;
  ok: boolean;
}

/** A stored message, or one of the running turn. */
export type ShownEntry =
  | TranscriptEntry
  | { type: "message"; id: string; message: AgentMessage }
  | ShownAnswer;

/**
 * Pure. `before` is what is shown already. Records of hosts and plugins that are not meant
 * for people are left out.
 */
export function foldChat(
  entries: readonly ShownEntry[],
  before: readonly ChatItem[] = [],
): ChatItem[] {
  return entries.reduce<ChatItem[]>(addEntry, [...before]);
}

function addEntry(items: ChatItem[], entry: ShownEntry): ChatItem[] {
  switch (entry.type) {
    case "message":
      return addMessage(items, entry.id, entry.message);
    case "custom_message":
      return entry.display === true
        ? [...items, mark(entry.id, entry.customType, textIn(entry.content))]
        : items;
    case "compaction":
      return [
        ...items,
        mark(entry.id, "Everything before this is shown to the model as a summary", entry.summary),
      ];
    case "branch_summary":
      return [...items, mark(entry.id, "Summary of a branch that was left", entry.summary)];
    case "reset":
      return [
        ...items,
        mark(entry.id, "A fresh start: the model no longer sees what came before", null),
      ];
    case "model_change":
      return [
        ...items,
        mark(entry.id, `From here on the model is ${entry.provider}/${entry.modelId}`, null),
      ];
    case "command-answer": {
      const { id, command, text, ok } = entry;
      return [...items, { kind: "answer", id, command, text, isRefusal: !ok }];
    }
    default:
      return items;
  }
}

function addMessage(items: ChatItem[], id: string, message: AgentMessage): ChatItem[] {
  switch (message.role) {
    case "user": {
      const text = shownPersonText(message.content);
      const images = countImages(message.content);
      const other = otherSessionOf(message);
      if (other !== undefined)
        return [...items, mark(id, `From ${nameOf(other)}`, text === "" ? null : text)];
      const kind = message.__openclaw?.kind;
      if (kind === "cron" || kind === "heartbeat") return [...items, mark(id, "From a job", text)];
      return text === "" && images === 0 ? items : [...items, { kind: "person", id, text, images }];
    }
    case "assistant":
      return addReply(items, id, partsOf(message), endingOf(message));
    case "toolResult":
      return addResult(
        items,
        id,
        message.toolCallId,
        message.toolName,
        textIn(message.content),
        toolEndOf(message),
      );
    case "bashExecution":
      return [...items, mark(id, `$ ${message.command}`, message.output)];
    case "custom":
      return message.display === true
        ? [...items, mark(id, message.customType, textIn(message.content))]
        : items;
    case "compactionSummary":
    case "branchSummary":
      return [...items, mark(id, "Summary of earlier history", message.summary)];
  }
}

/** One reply per turn: what a model says before and after its tools belongs together. */
function addReply(
  items: ChatItem[],
  id: string,
  parts: readonly ReplyPart[],
  ending: ReplyEnding | null,
): ChatItem[] {
  const last = items.at(-1);
  if (last?.kind !== "reply")
    return parts.length === 0 && ending === null
      ? items
      : [...items, { kind: "reply", id, parts, ending }];
  return [
    ...items.slice(0, -1),
    { ...last, parts: [...last.parts, ...parts], ending: ending ?? last.ending },
  ];
}

function addResult(
  items: ChatItem[],
  id: string,
  callId: string,
  name: string,
  output: string,
  state: ToolEnd,
): ChatItem[] {
  const index = items.findLastIndex(
    (item) =>
      item.kind === "reply" &&
      item.parts.some((part) => part.kind === "tool" && part.callId === callId),
  );
  const reply = items[index];
  if (reply?.kind !== "reply")
    return addReply(items, id, [{ kind: "tool", callId, name, input: "", state, output }], null);
  const parts = reply.parts.map(
    (part): ReplyPart =>
      part.kind === "tool" && part.callId === callId ? { ...part, state, output } : part,
  );
  return items.with(index, { ...reply, parts });
}

function partsOf({ content }: AssistantMessage): ReplyPart[] {
  // Older files hold a reply's text instead of blocks.
  const blocks: readonly unknown[] = Array.isArray(content)
    ? content
    : [{ type: "text", text: textIn(content) }];
  return (blocks as AssistantMessage["content"]).flatMap((block): ReplyPart[] => {
    if (block.type === "text") return block.text === "" ? [] : [{ kind: "text", text: block.text }];
    if (block.type === "thinking")
      return block.thinking === "" ? [] : [{ kind: "thinking", text: block.thinking }];
    if (block.type !== "toolCall") return [];
    const input = visibleJson(block.arguments ?? {}, 1);
    return [
      { kind: "tool", callId: block.id, name: block.name, input, state: "waiting", output: null },
    ];
  });
}

function endingOf({ stopReason, errorMessage }: AssistantMessage): ReplyEnding | null {
  if (stopReason === "aborted")
    return { kind: "stopped", text: "Stopped. What had arrived was kept." };
  if (stopReason === "error")
    return {
      kind: "failed",
      text: errorMessage ?? "The model failed without saying why; send the message again.",
    };
  if (stopReason === "length")
    return { kind: "cut", text: "Cut off at the model's output limit; ask it to go on." };
  return null;
}

const nameOf = ({ key }: OtherSession): string =>
  key === null ? "other sessions" : `session ${shortName(key)}`;

function mark(id: string, text: string, detail: string | null): ChatItem {
  return { kind: "mark", id, text, detail };
}
