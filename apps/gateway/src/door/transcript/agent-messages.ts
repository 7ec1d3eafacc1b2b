// Turns a client's messages into those of a transcript, whichever wire they came by.
import type { AgentMessage, AssistantBlock } from "@clew/plugin-sdk/core";
import type { DoorApi, JsonObject } from "../wires/door-wire.ts";
import { readAnthropic } from "./read-anthropic.ts";
import { readCompletions } from "./read-completions.ts";
import { readGoogle } from "./read-google.ts";
import { readResponses } from "./read-responses.ts";
import type { WireRead } from "./wire-read.ts";

/** Who answered what a model says in these messages. */
export interface Answerer {
  provider: string;
  /** The model's id, without its provider. */
  model: string;
}

/**
 * `toolNames` has the name of every call that was made before these messages, by id: a result may
 * stand without its call here. Without an `answerer` nobody knows who answered. System messages
 * become a custom message that people are not shown.
 */
export function toAgentMessages(
  api: DoorApi,
  messages: readonly JsonObject[],
  { answerer, toolNames }: { answerer?: Answerer; toolNames: ReadonlyMap<string, string> },
): AgentMessage[] {
  // Those before may be very many, and these a single one.
  const own = new Map<string, string>();
  const nameOf = (id: string) => own.get(id) ?? toolNames.get(id) ?? "";
  const made: AgentMessage[] = [];
  let reply: AssistantBlock[] | undefined;
  for (const read of messages.flatMap((message) => READERS[api](message))) {
    if (read.by !== "model") reply = undefined;
    switch (read.by) {
      case "person":
        made.push({ role: "user", content: read.content });
        break;
      case "system":
        made.push({
          role: "custom",
          customType: "door.system",
          content: read.content,
          display: false,
        });
        break;
      case "tool":
        made.push({
          role: "toolResult",
          toolCallId: read.id,
          toolName: read.name || nameOf(read.id),
          content: read.content,
          isError: read.isError,
        });
        break;
      case "model": {
        for (const block of read.content)
          if (block.type === "toolCall") own.set(block.id, block.name);
        // One reply may be several items of its wire.
        if (reply === undefined) {
          reply = [];
          made.push({
            role: "assistant",
            content: reply,
            stopReason: "stop",
            api,
            ...answerer,
          });
        }
        reply.push(...read.content);
        const last = made.at(-1);
        if (last?.role === "assistant" && read.content.some(({ type }) => type === "toolCall"))
          last.stopReason = "toolUse";
      }
    }
  }
  return made;
}

const READERS: Readonly<Record<DoorApi, (message: JsonObject) => WireRead[]>> = {
  "openai-completions": readCompletions,
  "openai-responses": readResponses,
  "anthropic-messages": readAnthropic,
  "google-generative-ai": readGoogle,
};
