import { createEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";

describe.each([
  ["anthropic-messages", "claude-opus-4-6", "max_tokens"],
  ["openai-completions", "m", "length"],
  ["google-generative-ai", "gemini-3-pro-preview", "MAX_TOKENS"],
])("over %s", (api, id, finishReason) => {
  it("a reply that was cut and one that is empty are told to the person", async () => {
    const answers = [{ text: "cut off", finishReason }, { text: "" }, { text: "Fine." }];
    const server = await createEmulator(api, { answers });
    onTestFinished(() => server.close());
    const lab = { api, baseUrl: server.baseUrl, models: [{ id }] };
    const { say } = await startTestGateway({
      agents: { defaults: { model: `lab/${id}` } },
      models: { providers: { lab } },
    });
    const noticesOf = async (text: string) =>
      (await say(text)).events.flatMap(({ type, text: notice }) =>
        type === "notice" ? [notice] : [],
      );
    expect(await noticesOf("one")).toEqual([
      `The reply of lab/${id} was cut at the limit of its length; ask it to go on, or allow it longer replies.`,
    ]);
    expect(await noticesOf("two")).toEqual([
      `lab/${id} answered without a word; ask again, or ask another model.`,
    ]);
    expect(await noticesOf("three")).toEqual([]);
  });
});
