import { readFileSync } from "node:fs";
import { conversation, user } from "@clew/plugin-sdk/testing";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { createLosslessEngine } from "./engine.ts";
import plugin from "./plugin.ts";
import { createSpending, spendingBounds } from "./summaries/spending.ts";
import { SESSION, startLife } from "./testing/life.ts";
import { setUpRecall } from "./testing/recall.ts";
import { withIds } from "./testing/stored.ts";

const MANIFEST = new URL("../openclaw.plugin.json", import.meta.url);
interface Schema {
  type: string;
  enum?: string[];
  minimum?: number;
}

describe("the settings", () => {
  it.each([
    [
      { keepDays: "x" },
      'The setting keepDays of the lossless engine is a number above 0, and was given "x".',
    ],
    [
      { summaries: true },
      'The setting summaries of the lossless engine is "off", "code" or "model", and was given true.',
    ],
    [
      { pastTokens: Number.NaN },
      "The setting pastTokens of the lossless engine is a whole number, 100 or more, and was given NaN.",
    ],
    [
      { ignoreSessionPatterns: "x:**" },
      'The setting ignoreSessionPatterns of the lossless engine is a list of patterns of session keys, and was given "x:**".',
    ],
    [{ toString: 1 }, 'The lossless engine has no setting "toString"; it has: databasePath, '],
    [
      { highWaterTokens: 5_000, lowWaterTokens: 50_000 },
      "a view is cut above highWaterTokens, 5000, so lowWaterTokens, 50000, has to be less.",
    ],
    [{ highWaterTokens: 5_000, lowWaterTokens: 5_000 }, "so lowWaterTokens, 5000, has to be less."],
  ])("%j are refused, by the engine and by the plugin", (settings, why) => {
    expect(() => createLosslessEngine({}, settings as never)).toThrow(why);
    const api = { pluginConfig: settings, logger: {} } as never;
    expect(() => plugin.register(api)).toThrow(why);
  });

  it("are what the manifest says, and may be absent", () => {
    const { properties } = JSON.parse(readFileSync(MANIFEST, "utf8")).configSchema;
    for (const [name, { type, enum: one, minimum }] of Object.entries<Schema>(properties)) {
      const value = { string: one?.[0] ?? "a", boolean: true, array: ["a"] }[type] ?? minimum ?? 1;
      expect(() => createLosslessEngine({}, { [name]: value })).not.toThrow();
      expect(() => createLosslessEngine({}, { [name]: undefined })).not.toThrow();
      expect(() => createLosslessEngine({}, { [name]: {} } as never)).toThrow(TypeError);
    }
  });

  const history = withIds(conversation({ turns: 90, tools: 1, toolResultChars: 1_500 }));
  const viewWith = async (settings: Parameters<typeof startLife>[0]) => {
    const { engine } = startLife(settings);
    await engine.ingestBatch!({ ...SESSION, messages: history });
    await engine.maintain?.({ ...SESSION, sessionFile: "" });
    const { messages } = await engine.assemble({
      ...SESSION,
      ...{ messages: history, tokenBudget: 100_000 },
    });
    return { tokens: estimateMessages(messages).estimate, record: textOf(messages[0]!) };
  };

  it("highWaterTokens and lowWaterTokens say when a view is cut, and how far", async () => {
    const whole = await viewWith({});
    expect(whole.tokens).toBe(estimateMessages(history).estimate);
    expect(whole.tokens).toBeGreaterThan(35_000);
    const high = await viewWith({ highWaterTokens: 35_000 });
    expect(high.tokens).toBeLessThan(35_000);
    const low = await viewWith({ highWaterTokens: 35_000, lowWaterTokens: 25_000 });
    const lower = await viewWith({ highWaterTokens: 35_000, lowWaterTokens: 15_000 });
    expect(low.tokens).toBeGreaterThan(high.tokens);
    expect(low.tokens).toBeLessThan(25_000);
    expect(lower.tokens).toBeLessThan(low.tokens);
    expect(lower.tokens).toBeLessThan(15_000);
  });

  it("pastTokens says how much the lines of the past may take", async () => {
    const water = { highWaterTokens: 15_000, summaries: "code" as const };
    const linesOf = async (pastTokens: number) => {
      const { record } = await viewWith({ ...water, pastTokens });
      return record
        .split("\n")
        .filter((line) => /^- (?:sum_\d+ )?#\d/.test(line))
        .join("\n").length;
    };
    const [few, many] = [await linesOf(200), await linesOf(3_000)];
    expect(few).toBeGreaterThan(0);
    expect(many).toBeGreaterThan(2 * few);
  });

  it("summaryCalls and summaryRestMinutes bound what a model is asked for words", () => {
    const clock = { ms: 0 };
    const spending = createSpending(() => clock.ms);
    const taken = () => Array.from({ length: 40 }, () => spending.take()).filter(Boolean).length;
    spending.within(spendingBounds({ summaryCalls: 3, summaryRestMinutes: 2 }));
    expect(taken()).toBe(3);
    clock.ms += 10 * 60_000;
    spending.within(spendingBounds({}));
    expect(taken()).toBe(24);
    clock.ms += 10 * 60_000;
    spending.within(spendingBounds({ summaryRestMinutes: 2 }));
    for (let time = 0; time < 4; time++) spending.note("badly");
    clock.ms += 119_000;
    expect(spending.take()).toBe(false);
    clock.ms += 2_000;
    expect(spending.take()).toBe(true);
  });

  it("summaryTimeoutSeconds says how long a model is waited for", async () => {
    const { engine } = startLife({ summaries: "model", summaryTimeoutSeconds: 0.05 });
    await engine.ingestBatch!({ ...SESSION, messages: history });
    const reasons: unknown[] = [];
    const complete = ({ signal }: { signal?: AbortSignal }) =>
      new Promise<never>((_, reject) => {
        signal?.addEventListener("abort", () => {
          reasons.push(signal.reason.name);
          reject(signal.reason);
        });
      });
    await engine.maintain!({
      ...{ ...SESSION, sessionFile: "" },
      runtimeContext: { llm: { complete }, allowDeferredCompactionExecution: true } as never,
    });
    expect(new Set(reasons)).toEqual(new Set(["TimeoutError"]));
  });

  it("searchSeconds says how long a search may take before it says how far it came", async () => {
    const messages = Array.from({ length: 3_000 }, (_, at) =>
      user(`line ${at} ${"ab".repeat(200)}`),
    );
    const asked = { pattern: "(a|b)*c\\d", mode: "regex" };
    const hasty = setUpRecall(undefined, undefined, false, 0);
    await hasty.tell(messages);
    expect(await hasty.call("lcm_grep", asked)).toMatch(/not all|so far|of \d/i);
    const patient = setUpRecall();
    await patient.tell(messages);
    expect(await patient.call("lcm_grep", asked)).toMatch(/^Nothing found/);
  });
});
