import type { ModelCall, ResponseFormat, StreamEvent } from "@clew/plugin-sdk/host";
import { expect, it, onTestFinished } from "vitest";
import { completeModel, streamModel } from "../stream.ts";
import { createEmulator } from "../testing.ts";

const JSON_FORMAT: ResponseFormat = { type: "json" };
const SCHEMA: ResponseFormat = { type: "json_schema", name: "x", schema: { type: "object" } };
const TOOL = { name: "read", description: "Reads.", parameters: { type: "object" } };

it.each<[string, string, ResponseFormat, boolean, string | undefined]>([
  [
    "google-generative-ai",
    "gemini-2.5-flash",
    JSON_FORMAT,
    true,
    "the format of the answer (JSON), which gemini-2.5-flash does not take beside tools",
  ],
  ["google-generative-ai", "gemini-2.5-flash", JSON_FORMAT, false, undefined],
  ["google-generative-ai", "gemini-2.5-flash", { type: "text" }, true, undefined],
  ["google-generative-ai", "gemini-3-pro", JSON_FORMAT, true, undefined],
  [
    "google-gemini-cli",
    "gemini-2.5-flash",
    SCHEMA,
    true,
    "the format of the answer (JSON by a schema), which gemini-2.5-flash does not take beside tools",
  ],
  [
    "anthropic-messages",
    "claude-opus-4-6",
    JSON_FORMAT,
    false,
    "the format of the answer (JSON), which anthropic-messages knows only with a schema",
  ],
  ["anthropic-messages", "claude-opus-4-6", SCHEMA, true, undefined],
  [
    "bedrock-converse-stream",
    "us.anthropic.claude-opus-4-6-v1:0",
    JSON_FORMAT,
    false,
    "the format of the answer (JSON), which bedrock-converse-stream knows only with a schema",
  ],
  ["openai-responses", "gpt-5.6", JSON_FORMAT, true, undefined],
  ["openai-completions", "gpt-4.1", JSON_FORMAT, true, undefined],
  ["mistral-conversations", "mistral-large", JSON_FORMAT, true, undefined],
])(
  "%s with %s tells what of %j beside tools (%s) it was not sent",
  async (api, id, responseFormat, hasTools, text) => {
    const server = await createEmulator(api, { answers: [{ text: "{}" }] });
    onTestFinished(() => server.close());
    const call: ModelCall = {
      model: { provider: "lab", api, id, contextWindow: 100_000, maxOutputTokens: 4000 },
      systemPrompt: "",
      messages: [{ role: "user", content: "Answer in JSON." }],
      tools: hasTools ? [TOOL] : [],
      signal: new AbortController().signal,
      responseFormat,
    };
    const asked = { call, endpoint: { baseUrl: server.baseUrl, apiKey: "key-for-tests" } };
    const events: StreamEvent[] = [];
    for await (const event of streamModel(asked)) events.push(event);
    const leftOut = text === undefined ? undefined : [text];
    expect(events.at(-1)).toMatchObject({ type: "done" });
    expect((events.at(-1) as { leftOut?: unknown }).leftOut).toEqual(leftOut);
    // What is told is what is so.
    const isAsked = /responseMimeType|response_format|"format"|outputConfig/.test(
      JSON.stringify(server.requests[0]!.body),
    );
    expect(isAsked).toBe(responseFormat.type !== "text" && text === undefined);
    expect(await completeModel(asked)).toMatchObject({ ok: true, ...(leftOut && { leftOut }) });
  },
);
