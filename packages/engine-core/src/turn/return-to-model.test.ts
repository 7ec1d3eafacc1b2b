import { expect, it } from "vitest";
import { testHost } from "../__fixtures__/host.ts";

const claude = (id: string) => ({
  provider: "anthropic",
  api: "anthropic-messages",
  id,
  contextWindow: 100_000,
  maxOutputTokens: 4096,
});
const FIRST = claude("claude-opus-4-6");
const SECOND = claude("claude-sonnet-4-6");

it("what a model's cache gives back is predicted when a session comes back to it", async () => {
  const host = testHost({ replies: ["one", "two", "three"] });
  await host.say("word ".repeat(9000), { model: FIRST });
  const away = await host.say("and now?", { model: SECOND });
  const back = await host.say("and again?", { model: FIRST });
  expect(away.report.modelCalls[0]?.cache).toMatchObject({
    predicted: 0,
    broke: { code: "model-changed" },
  });
  expect(back.report.modelCalls[0]?.cache?.broke).toBeUndefined();
  expect(back.report.modelCalls[0]?.cache?.predicted).toBeGreaterThan(6000);
});
