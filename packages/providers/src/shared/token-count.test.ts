import { describe, expect, it } from "vitest";
import { readUsage as readMessages } from "../anthropic-messages/usage.ts";
import { readUsage as readConverse } from "../bedrock-converse-stream/usage.ts";
import { readUsage as readGemini } from "../google-generative-ai/usage.ts";
import { readUsage as readChat } from "../openai-completions/chunk.ts";
import { readUsage as readResponses } from "../openai-responses/usage.ts";

type Read = (usage: Record<string, unknown>) => object | undefined;

/** The two counts that every wire tells. */
const WIRES: readonly (readonly [string, Read, string, string])[] = [
  ["messages", readMessages, "input_tokens", "output_tokens"],
  ["converse", readConverse, "inputTokens", "outputTokens"],
  ["gemini", readGemini, "promptTokenCount", "candidatesTokenCount"],
  ["chat", readChat as Read, "prompt_tokens", "completion_tokens"],
  ["responses", readResponses, "input_tokens", "output_tokens"],
];

describe("usage that a server tells", () => {
  it.each(WIRES)(
    "is none on %s where one of its counts is no count",
    (_wire, read, input, output) => {
      for (const garbage of [-5, "x", Number.NaN, {}, true]) {
        expect(read({ [input]: garbage, [output]: 7 })).toBeUndefined();
        expect(read({ [input]: 7, [output]: garbage })).toBeUndefined();
      }
      expect(read({})).toBeUndefined();
      expect(read({ [input]: null, [output]: null })).toBeUndefined();
    },
  );

  it.each(WIRES)(
    "is what it tells on %s, also of the prompt alone",
    (_wire, read, input, output) => {
      expect(read({ [input]: 7, [output]: 0 })).toMatchObject({ input: 7, output: 0 });
      expect(read({ [input]: 7, [output]: null })).toMatchObject({ input: 7, output: 0 });
    },
  );

  it.each(WIRES)("is none on %s without a count of the prompt", (_wire, read, input, output) => {
    for (const none of [undefined, null, 0])
      expect(read({ [input]: none, [output]: 7 })).toBeUndefined();
  });
});
