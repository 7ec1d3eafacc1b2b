import { conversation } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { passThrough, testHost } from "../__fixtures__/host.ts";
import { asHistory, type ViewItem, withEngineReasons } from "./view-item.ts";

const items: readonly ViewItem[] = conversation({ turns: 2 }).map((message, index) => ({
  id: `e${index}`,
  message,
  why: asHistory(`e${index}`),
}));

const reasonsOf = (explained: readonly ViewItem[]) =>
  explained.map(({ why: { engineReason } }) => engineReason);

describe("what an engine says of the items of its view", () => {
  it("holds from a place on, up to the next", () => {
    expect(items).toHaveLength(4);
    const reasons = [
      { from: 0, reason: "old" },
      { from: 2, reason: "" },
      { from: 3, reason: "n".repeat(300) },
      { from: 9, reason: "nowhere" },
    ];
    const explained = withEngineReasons(items, reasons);
    expect(reasonsOf(explained)).toEqual(["old", "old", undefined, "n".repeat(200)]);
    expect(explained.map(({ message }) => message)).toEqual(items.map(({ message }) => message));
    expect(explained[0]!.why.reason).toBe("history");
  });

  it("changes nothing where it says nothing", () => {
    expect(withEngineReasons(items)).toBe(items);
    expect(withEngineReasons(items, [])).toBe(items);
    expect(reasonsOf(withEngineReasons(items, [{ from: 2, reason: "newer" }]))).toEqual([
      undefined,
      undefined,
      "newer",
      "newer",
    ]);
  });

  it("stands in the report, and costs no view where it is wrong", async () => {
    let reasons: unknown = [{ from: 0, reason: "it is needed" }];
    const engine = passThrough({
      assemble: ({ messages }) => ({
        ...{ messages, estimatedTokens: 0 },
        reasons: reasons as { from: number; reason: string }[],
      }),
    });
    const host = testHost({ engine });
    await host.say("a");
    const { report } = await host.say("b");
    const told = report.modelCalls[0]!.messages.items.map((item) => item.engineReason);
    expect(told).toContain("it is needed");
    reasons = "because";
    const wrong = await host.say("c");
    expect([wrong.outcome, wrong.report.engine.degraded]).toEqual(["completed", null]);
  });
});
