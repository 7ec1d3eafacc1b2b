// Ends replies in every way, before and behind their last word.
import { expect, it } from "vitest";
import { peekReply } from "./peek-reply.ts";

const api = "openai-completions";
const chunk = (delta: object, finish_reason: string | null) =>
  `data: ${JSON.stringify({ id: "r", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const WORDS = chunk({ role: "assistant", content: "Half of it." }, null);

async function end(text: string, how: "whole" | "broken" | "gone") {
  const peek = peekReply({
    api,
    resolved: {
      model: { provider: "p", api, id: "m", contextWindow: 1000, maxOutputTokens: 100 },
      endpoint: { baseUrl: "http://127.0.0.1/v1" },
    },
    answer: { headers: [["content-type", "text/event-stream"]] },
    maxBytes: 10_000,
    onEvent: () => {},
  });
  await peek.push(new TextEncoder().encode(text));
  return peek.end(how);
}

it("a stream that broke off is no whole reply, though its last word may have come", async () => {
  const said = WORDS + chunk({}, "stop");
  const content = [{ type: "text", text: "Half of it." }];
  expect((await end(said, "whole")).error).toBeUndefined();
  for (const text of [WORDS, said])
    expect(await end(text, "broken")).toMatchObject({
      ...{ message: { content }, error: { kind: "network" } },
    });
  expect((await end(WORDS, "gone")).error).toMatchObject({ kind: "aborted" });
});
