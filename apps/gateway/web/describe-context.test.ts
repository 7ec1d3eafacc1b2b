import { describe, expect, it } from "vitest";
import type { ContextView } from "../src/reports/context-view.ts";
import {
  describeAlarm,
  describeEngine,
  describeSafeMode,
  describeSource,
  describeTurn,
  describeUsage,
  isToldBy,
} from "./describe-context.ts";

const legacy: ContextView["engine"] = {
  configured: null,
  ran: "legacy",
  infoId: "legacy",
  name: "Legacy",
  source: "default",
  ownsCompaction: false,
  degraded: null,
  projection: null,
};
const degraded = {
  ...legacy,
  configured: "lossless",
  degraded: { operation: "assemble", reason: "store is corrupt" },
};
const record = {
  engineId: "lossless",
  operation: "assemble",
  reason: "store is corrupt",
  scope: { kind: "everywhere" },
  failedAt: 0,
} as const;

describe("the source of an item", () => {
  it("is named with its id, and what an engine made is told from what was said", () => {
    const sources: ContextView["messages"][number]["source"][] = [
      { kind: "entry", entryId: "1f" },
      { kind: "summary", summaryId: "s2" },
      { kind: "policy", rule: "pair-tool-results" },
      { kind: "system", part: "base" },
      { kind: "system", part: "engine" },
      { kind: "tool-schema", name: "read_file" },
    ];
    expect(sources.map((source) => describeSource({ source }))).toEqual([
      { origin: "entry", text: "entry 1f" },
      { origin: "engine", text: "summary s2" },
      { origin: "policy", text: "policy: pair-tool-results" },
      { origin: "system", text: "base" },
      { origin: "engine", text: "engine" },
      { origin: "tool", text: "read_file" },
    ]);
  });
});

describe("the engine", () => {
  it("is named with the reason why it ran", () => {
    const why = (engine: Partial<ContextView["engine"]>) =>
      describeEngine({ engine: { ...legacy, ...engine } });
    expect(why({})).toContain("none is configured");
    expect(why({ configured: "lossless", ran: "lossless", source: "configured" })).toBe(
      "as configured",
    );
    expect(why({ configured: "lossless" })).toContain("lossless is switched off");
    expect(why(degraded)).toContain("in place of lossless");
    expect(why({ ...degraded, ran: "lossless" })).toContain("until it failed in this turn");
  });

  it("raises an alarm when another one answered, or is set aside, and only then", () => {
    expect(describeAlarm({ engine: legacy }, [], "here")).toBeNull();
    expect(describeAlarm(null, [], "here")).toBeNull();
    const alarm = describeAlarm({ engine: degraded }, [record], "here");
    expect(alarm?.title).toBe("The engine lossless is not running; legacy answered instead");
    expect(alarm?.reason).toContain("assemble: store is corrupt");
    expect(alarm?.next).toContain("until the gateway restarts");
    expect(
      describeAlarm({ engine: { ...degraded, ran: "lossless" } }, [record], "here")?.title,
    ).toBe("The engine lossless failed, and another one took over");
    expect(describeAlarm(null, [record], "here")?.title).toBe("The engine lossless is not running");
  });

  it("that is set aside for one session raises it there, with a way back, and nowhere else", () => {
    const here = { ...record, scope: { kind: "session", sessionKey: "here" } } as const;
    expect(describeAlarm(null, [here], "here")?.next).toContain("“/engine retry”");
    expect(describeAlarm({ engine: degraded }, [here], "here")?.next).toContain("“/engine retry”");
    expect(describeAlarm(null, [here], "there")).toBeNull();
    const main = { ...record, scope: { kind: "session", sessionKey: "agent:main:main" } } as const;
    expect(describeAlarm(null, [main], "main")).not.toBeNull();
  });

  it("whose plugin is in safe mode raises one alarm, which says what brings it back", () => {
    const reason =
      "it is off in safe mode, because it slept; clew plugins enable deep brings it back";
    const safe = { plugin: "deep", reason };
    expect(describeSafeMode(safe)).toMatchObject({
      title: "Safe mode: the plugin deep is off",
      reason: expect.stringContaining("clew plugins enable deep"),
    });
    const away = { ...record, operation: "resolve", reason: `plugin "deep": ${reason}` };
    expect(isToldBy([safe], describeAlarm(null, [away], "here")!)).toBe(true);
    expect(isToldBy([safe], describeAlarm(null, [record], "here")!)).toBe(false);
    expect(isToldBy([], describeAlarm(null, [away], "here")!)).toBe(false);
  });

  it("that failed before a restart is not called set aside any more", () => {
    expect(describeAlarm({ engine: degraded }, [], "here")?.next).toContain("tries it again");
  });
});

describe("usage", () => {
  it("counts cached tokens as sent, and says so", () => {
    expect(
      describeUsage({ input: 10, cacheRead: 1000, cacheWrite: 5, output: 7, totalTokens: 1022 }),
    ).toBe("1,015 in (1,000 from cache), 7 out");
    expect(describeUsage(null)).toBeNull();
  });
});

describe("what happened in a turn", () => {
  const view: ContextView = {
    turnId: "t",
    startedAt: "2026-01-01T00:00:00.000Z",
    outcome: "failed",
    model: { requested: "a/b", resolved: "a/b", api: "offline" },
    engine: legacy,
    budget: null,
    call: {
      index: 0,
      durationMs: 20,
      usage: null,
      stopReason: null,
      error: null,
      requestHash: "h",
      retries: 0,
    },
    turn: {
      durationMs: 40,
      hostMs: 1,
      reason: "It broke.",
      engineCalls: [],
      toolCalls: [],
      compactions: [],
      historyChanges: [],
      modelCalls: 1,
    },
    size: { tokens: 1, source: "estimated", water: null },
    tokens: { system: 0, tools: 0, messages: 0, program: 0, total: 0 },
    system: [],
    tools: [],
    messages: [],
    policyChanges: [],
  };

  it("is told without what did not happen", () => {
    expect(describeTurn(view).map(({ label, value }) => `${label}: ${value}`)).toEqual([
      "Outcome: failed",
      "Took: 40 ms",
      "Model calls: 1",
    ]);
    expect(describeTurn(view)[0]).toMatchObject({ isBad: true, lines: ["It broke."] });
  });

  it("is told with what was odd about the engine's choice, and what it did not take", () => {
    const facts = describeTurn({
      ...view,
      turn: {
        ...view.turn,
        views: { fallbacks: 1, aligned: 2 },
        deliveries: { pending: 2, blocked: ["a"] },
      },
    }).slice(-2);
    expect(facts).toMatchObject([
      {
        lines: [
          "1 call without it: the host could not use it",
          "2 messages without ids, recognised by their content",
        ],
        isBad: true,
      },
      {
        value: "3 turns",
        lines: [
          "2 turns will be offered again",
          "1 turn refused three times; “/engine retry” offers it again",
        ],
        isBad: true,
      },
    ]);
  });

  it("is told with what was done about calls that failed, and with what was not sent", () => {
    const facts = describeTurn({
      ...view,
      model: { ...view.model, requested: "lab/m", resolved: "spare/m", fallback: "not_found" },
      call: { ...view.call, leftOut: ["service tier flex (here), which m does not have"] },
      turn: {
        ...view.turn,
        recoveries: [
          {
            ...{ model: "lab/m", kind: "signature", action: "remedy" },
            ...{ remedy: "without-proofs", message: "Invalid signature." },
          },
          {
            ...{ model: "lab/m", kind: "not_found", action: "fallback" },
            ...{ to: "spare/m", message: "No such model." },
          },
        ],
      },
    });
    expect(facts.flatMap(({ lines }) => lines)).toEqual(
      expect.arrayContaining([
        "in place of lab/m (not found)",
        "lab/m was asked again without proofs (signature): Invalid signature.",
        "spare/m was asked in place of lab/m (not found): No such model.",
        "service tier flex (here), which m does not have",
      ]),
    );
  });

  it("is told with the results that were shortened because no compaction helped", () => {
    const cut = { results: 4, freedTokens: 16_606 };
    const facts = describeTurn({ ...view, turn: { ...view.turn, cut } });
    expect(facts.find(({ label }) => label === "Shortened in bulk")).toMatchObject({
      value: "4 tool results",
      lines: [expect.stringContaining("by about 16,606 tokens")],
    });
    expect(describeTurn(view).map(({ label }) => label)).not.toContain("Shortened in bulk");
  });

  it("is told with tools, compactions and policy changes when there were some", () => {
    const change = {
      rule: "pair-tool-results",
      action: "inserted" as const,
      index: 1,
      reason: "no result",
      count: 2,
    };
    const facts = describeTurn({
      ...view,
      policyChanges: [change],
      turn: {
        ...view.turn,
        toolCalls: [{ name: "read_file", durationMs: 3, isError: true, note: "There is no x." }],
        compactions: [
          {
            trigger: "timeout_recovery",
            ok: true,
            compacted: true,
            reason: null,
            tokensBefore: 9000,
            tokensAfter: 1000,
            durationMs: 5,
          },
        ],
        engineCalls: [{ method: "assemble", durationMs: 1, outcome: "fallback", detail: "boom" }],
      },
    });
    expect(facts.flatMap(({ lines }) => lines)).toEqual(
      expect.arrayContaining([
        "read_file: failed after 3 ms: There is no x.",
        "timeout recovery, done: 9,000 → 1,000 tokens in 5 ms",
        "pair-tool-results: inserted 2 times, no result",
        "assemble: fallback in 1 ms (boom)",
      ]),
    );
    expect(facts.filter(({ isBad }) => isBad).map(({ label }) => label)).toEqual([
      "Outcome",
      "Tools",
      "Engine",
    ]);
  });

  it("says of which tool calls one failed, and paints no other of them", () => {
    const tools = (...areErrors: boolean[]) => {
      const toolCalls = areErrors.map((isError) => ({ name: "look", durationMs: 3, isError }));
      const facts = describeTurn({ ...view, turn: { ...view.turn, toolCalls } });
      return facts.find(({ label }) => label === "Tools");
    };
    expect(tools(false, true, false)).toMatchObject({
      ...{ value: "3 calls, 1 failed", isBad: true, badLines: [1] },
    });
    expect(tools(false)).toMatchObject({ value: "1 call", isBad: false });
  });
});
