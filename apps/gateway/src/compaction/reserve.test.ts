import type { CompactionPreview } from "@clew/legacy-engine";
import { describe, expect, it } from "vitest";
import type { StatusFacts } from "../commands/status.ts";
import { startTestGateway } from "../testing/gateway.ts";

const WINDOW = 200_000;
const long = "The tide at the rock was high and the boat waited for the keeper. ".repeat(60);

describe("the system prompt", () => {
  it("is counted by a compaction: none makes room where it fills the window alone", async () => {
    const before = await startTestGateway();
    for (const name of ["one", "two", "three"]) await before.say(`Note ${name}. ${long}`);
    await before.stop();
    const defaults = { systemPrompt: long.repeat(10), contextTokens: 4000 };
    const { gateway } = await startTestGateway({ agents: { defaults } }, before.home);
    const { data } = await gateway.compact("main", { kind: "preview", focus: undefined });
    expect(data as CompactionPreview).toMatchObject({ kind: "nothing", code: "no-room" });
  });
});

describe("the reserve", () => {
  it.each([
    // configured, in force
    [undefined, 20_000],
    [0, 0],
    [4_000, 4_000],
    [30_000, 30_000],
    [90_000, 50_000],
  ])(
    "%s is one number in the turn report, in /status and in a compaction: %i",
    async (configured, reserve) => {
      const compaction = configured === undefined ? {} : { reserveTokensFloor: configured };
      const { gateway, say } = await startTestGateway({ agents: { defaults: { compaction } } });
      for (const name of ["one", "two", "three"]) await say(`Note ${name}. ${long}`);

      const { budget } = (await gateway.context("main"))!;
      expect(budget).toMatchObject({
        contextWindow: WINDOW,
        reserve,
        promptBudget: WINDOW - reserve,
      });
      const status = (await gateway.command("main", { kind: "command", name: "status", args: "" }))
        .data;
      expect((status as StatusFacts).context.promptBudget).toBe(WINDOW - reserve);
      const preview = (await gateway.compact("main", { kind: "preview", focus: undefined })).data;
      expect(preview as CompactionPreview).toMatchObject({
        kind: "summarise",
        reserve,
        promptBudget: WINDOW - reserve,
      });
    },
  );
});
