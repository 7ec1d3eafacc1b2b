// What a message is on the Chat Completions wire.
import type { ReasoningFields } from "./reasoning.ts";

export type ChatPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } };

export type ChatMessage =
  | { role: "user"; content: string | ChatPart[] }
  | ({
      role: "assistant";
      content: string | null;
      tool_calls?: ChatToolCall[];
    } & ReasoningFields)
  | { role: "tool"; tool_call_id: string; content: string };

export interface ChatToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
  extra_content?: { google: { thought_signature: string } };
}
