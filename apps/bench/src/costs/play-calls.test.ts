import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { expect, it, onTestFinished } from "vitest";
import { readCosts } from "../../../gateway/src/costs/ledger.ts";
import { sumUsage } from "../../../gateway/src/costs/usage.ts";
import { playCalls, recordedUsage } from "./play-calls.ts";

const reply = (input: number, cacheRead: number, model: string): AssistantMessage => ({
  ...{ role: "assistant", content: [], stopReason: "stop" },
  ...{ provider: "anthropic", api: "anthropic-messages", model },
  usage: { input, cacheRead, cacheWrite: 1_000, output: 50, totalTokens: 0 },
});

it("a recorded session is counted to the token, and paid where prices are known", async () => {
  const home = mkdtempSync(join(tmpdir(), "clew-costs-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const messages = [
    reply(100, 0, "claude-opus-4-6"),
    reply(3, 1_100, "claude-opus-4-6"),
    reply(7, 9, "nobody-knows"),
  ];
  await playCalls(home, messages);
  const { total } = await sumUsage(readCosts(home));
  const { counts, dollars } = recordedUsage(messages);
  const { calls, ...tokens } = counts;
  expect(total).toMatchObject({ modelCalls: calls, tokens, unknown: 1 });
  expect(tokens).toEqual({ input: 110, cacheRead: 1_109, cacheWrite: 3_000, output: 150 });
  // 103 at 5, 1,100 at 0.50, 2,000 at 6.25 and 100 at 25 dollars per million.
  expect(dollars).toBeCloseTo(0.016065, 12);
  expect(total.cost.total).toBeCloseTo(dollars, 12);
});
