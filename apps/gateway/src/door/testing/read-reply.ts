// Reads an answer of the door as the driver of its wire does.
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import { anthropicMessages } from "@clew/providers/drivers/anthropic-messages";
import { googleGenerativeAi } from "@clew/providers/drivers/google-generative-ai";
import { openaiCompletions } from "@clew/providers/drivers/openai-completions";
import { openaiResponses } from "@clew/providers/drivers/openai-responses";
import type { DoorApi } from "../wires/door-wire.ts";

const DRIVERS = {
  "openai-completions": openaiCompletions,
  "openai-responses": openaiResponses,
  "anthropic-messages": anthropicMessages,
  "google-generative-ai": googleGenerativeAi,
};

export interface ReadReply {
  events: StreamEvent[];
  /** The end of it. */
  last: Extract<StreamEvent, { type: "done" | "error" }>;
}

export function readReply(api: DoorApi, text: string, contentType: string): ReadReply {
  const call: ModelCall = {
    model: { provider: "p", api, id: "m", contextWindow: 1000, maxOutputTokens: 100 },
    ...{ systemPrompt: "", messages: [], tools: [], signal: new AbortController().signal },
  };
  const endpoint = { baseUrl: "http://127.0.0.1/v1" };
  const decoder = DRIVERS[api].createDecoder({ call, endpoint, contentType, now: () => 1000 });
  const events = [...decoder.push(new TextEncoder().encode(text)), ...decoder.end()];
  return { events, last: events.at(-1) as ReadReply["last"] };
}
