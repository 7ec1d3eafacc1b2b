// Decides what an editor is told of what happens in a session that it holds.
import { randomUUID } from "node:crypto";
import type { ClientCapabilities, SessionUpdate } from "@agentclientprotocol/sdk";
import type { AgentMessage, ToolCallBlock } from "@clew/plugin-sdk/core";
import { toolEndOf } from "../approvals/refused.ts";
import type { NewEvent } from "../events/shapes.ts";
import { number } from "../text/number.ts";
import { shownPersonText, textIn } from "../text/shown-text.ts";
import { planIn } from "./plans.ts";
import { type CallPlace, resultContent, viewCall } from "./tool-calls.ts";

export type Abilities = Pick<ClientCapabilities, "session">;

export interface UpdatesOptions extends CallPlace {
  abilities: Abilities;
  /** True: the editor said it, and shows it already. */
  isOwn(idempotencyKey: string | undefined): boolean;
}

export interface Updates {
  /** In order; many events say nothing to an editor. */
  of(event: NewEvent): SessionUpdate[];
  /** What a call shows besides its result, such as the terminal that it runs in. */
  note(callId: string, content: ToolContent): SessionUpdate[];
}

type ToolContent = NonNullable<Extract<SessionUpdate, { sessionUpdate: "tool_call" }>["content"]>;

/** Calls of the turn under way, by what an editor was told of them. */
interface Told {
  /** Stays beside the result. */
  content: ToolContent;
  isOver: boolean;
}

export const textChunk = (
  sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk",
  text: string,
): SessionUpdate => ({ sessionUpdate, content: { type: "text", text } });

/**
 * Pure. What an editor is told besides the conversation. One that has no place for notices is told
 * in a paragraph of its own, so that nobody holds it for what the model says.
 */
export const noticeUpdate = (abilities: Abilities, text: string): SessionUpdate =>
  abilities.session?.notices == null
    ? textChunk("agent_message_chunk", quoted(text))
    : { sessionUpdate: "notice", severity: "info", title: text };

/** Pure. As Markdown. */
const quoted = (text: string): string => `\n\n${`**Clew:** ${text}`.replace(/^/gm, "> ")}\n\n`;

export function createUpdates(options: UpdatesOptions): Updates {
  const { abilities, isOwn } = options;
  const calls = new Map<string, Told>();
  /** Pieces of the reply that is being written came by themselves. */
  let wasStreamed = false;
  const begin = (call: Pick<ToolCallBlock, "id" | "name" | "arguments">): SessionUpdate[] => {
    if (calls.has(call.id)) return [];
    const plan = planIn(call);
    if (plan !== undefined) {
      // It is all that there is to show of the call.
      calls.set(call.id, { content: [], isOver: true });
      return [plan];
    }
    const { title, kind, locations, diffs } = viewCall(call, options);
    calls.set(call.id, { content: diffs, isOver: false });
    return [
      {
        ...{ sessionUpdate: "tool_call", toolCallId: call.id, name: call.name, title, kind },
        ...{ status: "pending", rawInput: call.arguments ?? {}, locations, content: diffs },
      },
    ];
  };
  const end = (id: string, status: "completed" | "failed", text: string): SessionUpdate[] => {
    const told = calls.get(id);
    if (told === undefined || told.isOver) return [];
    told.isOver = true;
    // A terminal shows what was printed by itself.
    const hasTerminal = told.content.some(({ type }) => type === "terminal");
    const content = [...told.content, ...(hasTerminal ? [] : resultContent(text))];
    return [{ sessionUpdate: "tool_call_update", toolCallId: id, status, content }];
  };
  const message = (said: AgentMessage | undefined): SessionUpdate[] => {
    switch (said?.role) {
      case "user":
        return isOwn(said.idempotencyKey) ? [] : saidElsewhere(said);
      case "assistant": {
        const text = wasStreamed || !Array.isArray(said.content) ? "" : textIn(said.content);
        wasStreamed = false;
        const blocks = Array.isArray(said.content) ? said.content : [];
        return [
          ...(text === "" ? [] : [textChunk("agent_message_chunk", text)]),
          ...blocks.flatMap((block) => (block.type === "toolCall" ? begin(block) : [])),
        ];
      }
      case "toolResult": {
        const { toolCallId, toolName: name } = said;
        const status = toolEndOf(said) === "done" ? "completed" : "failed";
        return [
          ...begin({ id: toolCallId, name, arguments: {} }),
          ...end(toolCallId, status, textIn(said.content)),
        ];
      }
      default:
        return [];
    }
  };
  return {
    note(callId, content) {
      const told = calls.get(callId);
      if (told === undefined || told.isOver) return [];
      told.content = [...told.content, ...content];
      const sessionUpdate = "tool_call_update";
      return [{ sessionUpdate, toolCallId: callId, content: told.content }];
    },
    of(event) {
      switch (event.type) {
        case "started":
          calls.clear();
          wasStreamed = false;
          return [];
        case "accepted":
          return message(event.message);
        case "call": {
          const { size, budget, tokens } = event.call;
          const used = size?.tokens ?? Object.values(tokens).reduce((sum, each) => sum + each, 0);
          wasStreamed = false;
          return [{ sessionUpdate: "usage_update", used, size: budget.contextWindow }];
        }
        case "text":
          wasStreamed = true;
          return [textChunk("agent_message_chunk", event.delta)];
        case "thinking":
          return [textChunk("agent_thought_chunk", event.delta)];
        case "tool_start": {
          const { id } = event.call;
          const begun = begin({ ...event.call, arguments: event.call.arguments ?? {} });
          if (calls.get(id)?.isOver) return begun;
          const sessionUpdate = "tool_call_update";
          return [...begun, { sessionUpdate, toolCallId: id, status: "in_progress" }];
        }
        case "message":
          return message(event.message);
        case "compaction": {
          const { ok, compacted, reason } = event.compaction;
          if (ok && !compacted) return [];
          // What went wrong is said by a notice, too.
          if (abilities.session?.compaction == null)
            return compacted ? [noticeUpdate(abilities, describeSizes(event.compaction))] : [];
          const status = compacted ? "completed" : "failed";
          return [compactionUpdate(status, compacted ? null : reason)];
        }
        case "notice":
          return event.about === "compaction" && abilities.session?.compaction != null
            ? [compactionUpdate("completed", null)]
            : [noticeUpdate(abilities, event.text)];
        case "done":
          // What was never answered does not go on for ever.
          return [...calls.keys()].flatMap((id) => end(id, "failed", ""));
        default:
          return [];
      }
    },
  };
}

const compactionUpdate = (status: "completed" | "failed", error: string | null): SessionUpdate => ({
  ...{ sessionUpdate: "compaction_update", compactionId: randomUUID(), status },
  ...(error !== null && { error }),
});

const describeSizes = ({
  tokensBefore,
  tokensAfter,
}: Extract<NewEvent, { type: "compaction" }>["compaction"]): string =>
  tokensBefore === null || tokensAfter === null
    ? "Compacted."
    : `Compacted: ${number(tokensBefore)} → ${number(tokensAfter)} tokens.`;

/** On the page, say, or by a job. */
function saidElsewhere({ content }: Extract<AgentMessage, { role: "user" }>): SessionUpdate[] {
  const text = shownPersonText(content);
  return text === "" ? [] : [textChunk("user_message_chunk", text)];
}
