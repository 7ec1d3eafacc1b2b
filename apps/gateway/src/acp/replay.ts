// Decides what an editor is told of a conversation that it loads.
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { UserBlock } from "@clew/plugin-sdk/core";
import { type ChatItem, foldChat, type ReplyPart } from "../conversation/chat-view.ts";
import type { ShownEntry } from "../sessions/shown.ts";
import { planIn } from "./plans.ts";
import { type CallPlace, resultContent, viewCall } from "./tool-calls.ts";
import { type Abilities, textChunk } from "./updates.ts";

export interface ReplayOptions {
  entries: readonly ShownEntry[];
  abilities: Abilities;
  /** Absolute. */
  cwd: string;
}

/** Pure. The same that a chat shows of it, oldest first. */
export function planReplay({ entries, abilities, cwd }: ReplayOptions): SessionUpdate[] {
  const known = { calls: callsIn(entries), byId: new Map(entries.map((each) => [each.id, each])) };
  // What files were before calls of long ago, nobody knows.
  const place: CallPlace = { cwd, textOf: () => null };
  return foldChat(entries).flatMap((item) => updatesOf(item, { ...known, place, abilities }));
}

type Arguments = Record<string, unknown>;

function callsIn(entries: readonly ShownEntry[]): Map<string, Arguments> {
  const calls = new Map<string, Arguments>();
  for (const entry of entries) {
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    const { content } = entry.message;
    for (const block of Array.isArray(content) ? content : [])
      if (block.type === "toolCall") calls.set(block.id, block.arguments ?? {});
  }
  return calls;
}

interface Known {
  calls: ReadonlyMap<string, Arguments>;
  byId: ReadonlyMap<string, ShownEntry>;
  place: CallPlace;
  abilities: Abilities;
}

function updatesOf(item: ChatItem, known: Known): SessionUpdate[] {
  switch (item.kind) {
    case "person":
      return [
        ...(item.text === "" ? [] : [textChunk("user_message_chunk", item.text)]),
        ...(item.images === 0 ? [] : imagesOf(known.byId.get(item.id))),
      ];
    case "reply":
      return [
        ...item.parts.flatMap((part) => updatesOfPart(part, known)),
        ...(item.ending === null
          ? []
          : [textChunk("agent_message_chunk", `\n\n_${item.ending.text}_`)]),
      ];
    case "mark":
      return updatesOfMark(item, known);
    case "answer":
      return [];
  }
}

function imagesOf(entry: ShownEntry | undefined): SessionUpdate[] {
  if (entry?.type !== "message" || entry.message.role !== "user") return [];
  const { content } = entry.message;
  const blocks: readonly UserBlock[] = Array.isArray(content) ? content : [];
  return blocks.flatMap((block): SessionUpdate[] =>
    block.type === "image" && typeof block.data === "string"
      ? [
          {
            sessionUpdate: "user_message_chunk",
            content: { type: "image", data: block.data, mimeType: block.mimeType },
          },
        ]
      : [],
  );
}

function updatesOfPart(part: ReplyPart, { calls, place }: Known): SessionUpdate[] {
  if (part.kind === "text") return [textChunk("agent_message_chunk", part.text)];
  if (part.kind === "thinking") return [textChunk("agent_thought_chunk", part.text)];
  const { callId, name, state, output } = part;
  const given = calls.get(callId) ?? {};
  const plan = planIn({ name, arguments: given });
  if (plan !== undefined) return [plan];
  const { title, kind, locations, diffs } = viewCall({ name, arguments: given }, place);
  // One that nobody answered does not run any more.
  const status = state === "done" ? "completed" : "failed";
  const content = [...diffs, ...resultContent(output ?? "")];
  return [
    {
      ...{ sessionUpdate: "tool_call", toolCallId: callId, name, title, kind, status },
      ...{ rawInput: given, locations, content },
    },
  ];
}

/** What another session or a job said is part of the conversation; other marks only tell. */
function updatesOfMark(
  { id, text, detail }: Extract<ChatItem, { kind: "mark" }>,
  { byId, abilities }: Known,
): SessionUpdate[] {
  const entry = byId.get(id);
  const isSaid = entry?.type === "message" && entry.message.role === "user";
  if (isSaid) return [textChunk("user_message_chunk", [text, detail ?? ""].join("\n\n").trim())];
  if (entry?.type === "compaction" && abilities.session?.compaction != null)
    return [
      {
        ...{ sessionUpdate: "compaction_update", compactionId: id, status: "completed" },
        ...(detail !== null && { summary: [{ type: "text", text: detail }] }),
      },
    ];
  if (abilities.session?.notices == null) return [];
  const description = detail === null ? {} : { description: detail };
  return [{ sessionUpdate: "notice", severity: "info", title: text, ...description }];
}
