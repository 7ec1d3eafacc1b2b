import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { CompactionTrigger } from "@clew/plugin-sdk/host";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { chars4Message, estimateMessage } from "@clew/plugin-sdk/tokens";
import {
  atomicGroups,
  type NewTranscriptEntry,
  PRUNE_PLACEHOLDER,
  pairToolCalls,
} from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyHistory, anyWindow, prose } from "../__fixtures__/histories.ts";
import { memorySession } from "../__fixtures__/session.ts";
import { compactionOptions } from "./options.ts";
import { compactionSteps, type PlanInput, type PrunePlan, planCompaction } from "./plan.ts";

const input = (messages: readonly AgentMessage[], extras: Partial<PlanInput> = {}): PlanInput => ({
  branch: memorySession(messages).branch(),
  options: compactionOptions(),
  contextWindow: 128_000,
  maxOutputTokens: 8_000,
  trigger: "manual",
  ...extras,
});

/** Messages of exactly so many tokens at four characters each. */
const text = (tokens: number) => "abcd".repeat(tokens);
const result = (tokens: number, toolName = "read") =>
  toolResult({ id: `r${tokens}`, name: toolName }, text(tokens));

/** The worked cases count characters / 4. */
const planAsWorked = (given: PlanInput) =>
  planCompaction(given, (message) => {
    const tokens = chars4Message(message);
    return { low: tokens, estimate: tokens, high: tokens };
  });

describe("the steps of a plan", () => {
  it("each look at few messages, however many there are", () => {
    const turns = Array.from({ length: 2000 }, (_, turn) => [
      user(`request ${turn}`),
      toolResult({ id: `r${turn}`, name: "read" }, text(40)),
      assistant(text(20)),
    ]).flat();
    let counted = 0;
    const steps = compactionSteps(input(turns, { contextWindow: 32_000 }), (message) => {
      counted++;
      return estimateMessage(message);
    });
    const perStep: number[] = [];
    for (let isOver = false; !isOver; counted = 0) {
      isOver = steps.next().done === true;
      perStep.push(counted);
    }
    expect(perStep.length).toBeGreaterThan(turns.length);
    expect(Math.max(...perStep)).toBeLessThanOrEqual(256);
  });
});

describe("clearing first", () => {
  // The shape of worked cases 27 to 29: 60,000 and 30,000 old tokens of output,
  // 42,000 in the protected turns.
  const old = [
    user(text(20)),
    assistant(text(20)),
    result(60_000),
    assistant(text(20)),
    result(30_000, "exec"),
  ];
  const recent = [
    user(text(20)),
    assistant(text(9000)),
    user(text(20)),
    assistant(text(12_000)),
    result(42_000, "exec"),
  ];

  it("is enough where less than 80 % of the window is left", () => {
    const plan = planAsWorked(input([...old, ...recent], { contextWindow: 128_000 }));
    // Long results are shown shortened, before and after.
    expect(plan).toMatchObject({
      kind: "prune",
      tokensBefore: 45_166,
      prune: { freedTokens: 59_993 },
    });
  });

  it("is not enough in a smaller window, nor at exactly 80 %", () => {
    expect(planAsWorked(input([...old, ...recent], { contextWindow: 64_000 })).kind).toBe(
      "summarise",
    );
    // 139,993 − 59,993 = 80,000 of 100,000.
    const exactly = [...old.slice(0, 4), result(16_893, "exec"), ...recent];
    expect(planAsWorked(input(exactly, { contextWindow: 100_000 })).kind).not.toBe("prune");
    const below = [...old.slice(0, 4), result(16_892, "exec"), ...recent];
    expect(planAsWorked(input(below, { contextWindow: 100_000 }))).toMatchObject({
      kind: "prune",
      tokensBefore: 45_166,
    });
  });

  it("at the threshold is enough where it gets half way to the low mark, however much is left of the window", () => {
    // 40,000 tokens of a person's words stay; the rest is old output, as requests show it.
    const output = Array.from({ length: 12 }, (_, index) => {
      const call = toolCall("read", { path: `f${index}` }, `c${index}`);
      return [assistant([call]), toolResult(call, prose(6_000, index))];
    }).flat();
    const messages = [user("go"), ...output, user(prose(20_000)), user(prose(20_000))];
    const planAt = (highWaterTokens: number, trigger: CompactionTrigger) =>
      planCompaction(
        input(messages, {
          trigger,
          contextWindow: 200_000,
          options: compactionOptions({ highWaterTokens, pruneProtectTokens: 0 }),
        }),
      );
    const at = (...given: Parameters<typeof planAt>) => planAt(...given).kind;
    expect(at(74_000, "threshold")).toBe("prune");
    // Below the high mark, and soon there again.
    expect(at(44_000, "threshold")).toBe("summarise");
    const { tokensAfter } = planAt(74_000, "threshold") as PrunePlan;
    expect(at(tokensAfter + 500, "threshold")).toBe("summarise");
    expect(at(30_000, "threshold")).toBe("summarise");
    for (const trigger of ["manual", "overflow", "budget"] as const)
      expect(at(30_000, trigger)).toBe("prune");
  });

  it("believes the provider's count when that is larger than the estimate", () => {
    const plan = planAsWorked(
      input([...old, ...recent], {
        contextWindow: 128_000,
        trigger: "overflow",
        currentTokenCount: 170_000,
      }),
    );
    expect(plan.kind).toBe("summarise");
  });

  it("is never enough for a person who said what to keep", () => {
    const messages = [...old, ...recent];
    expect(planAsWorked(input(messages, { focus: "the tests" })).kind).toBe("summarise");
    expect(planAsWorked(input(messages, { focus: "  " })).kind).toBe("prune");
  });

  it("can be switched off, and follows its settings", () => {
    const messages = [...old, ...recent];
    const plan = (options: Record<string, unknown>) =>
      planAsWorked(input(messages, { options: compactionOptions(options) }));
    expect(plan({ prune: false }).kind).toBe("summarise");
    expect(plan({ pruneProtectedTools: ["read"] })).toMatchObject({
      kind: "summarise",
      prune: undefined,
    });
    expect(plan({ pruneMinimumTokens: 60_001 })).toMatchObject({ prune: undefined });
    expect(plan({ pruneProtectTokens: 0 })).toMatchObject({
      kind: "prune",
      prune: { freedTokens: 89_986 },
    });
  });

  it("never happens inside one long turn, unless the operator lets it: then what was read again goes", () => {
    const reads = (round: number) =>
      Array.from({ length: 10 }, (_, index) => {
        const call = toolCall("read", { path: `src/f${index}.ts` }, `r${round}-${index}`);
        return [assistant([call]), toolResult(call, prose(3_000, index + round))];
      }).flat();
    const messages = [user("go"), ...reads(0), ...reads(1), assistant("I see.")];
    const plan = (agentPrune: boolean) =>
      planCompaction(
        input(messages, {
          contextWindow: 200_000,
          options: compactionOptions({ agentPrune, pruneProtectTokens: 0 }),
        }),
      );
    expect(plan(false)).toMatchObject({ kind: "summarise", prune: undefined });
    expect(plan(true)).toMatchObject({ kind: "prune", prune: { entryIds: { length: 10 } } });
  });

  it("spares what says that it must stay, also where it was read again", () => {
    const read = (round: number, extras: { pruneProtect?: true } = {}) => {
      const call = toolCall("read", { path: "src/f.ts" }, `r${round}`);
      return [assistant([call]), { ...toolResult(call, prose(30_000, round)), ...extras }];
    };
    const plan = (extras: { pruneProtect?: true }) =>
      planCompaction(
        input([user("go"), ...read(0, extras), ...read(1), assistant("I see.")], {
          contextWindow: 200_000,
          options: compactionOptions({ agentPrune: true, pruneProtectTokens: 0 }),
        }),
      );
    expect(plan({})).toMatchObject({ kind: "prune" });
    expect(plan({ pruneProtect: true })).toMatchObject({ prune: undefined });
  });

  it("is what remains when nothing can be summarised", () => {
    const messages = [
      user("go"),
      ...Array.from({ length: 3 }, () => result(30_000)),
      user("a"),
      user(text(90_000)),
    ];
    const plan = planAsWorked(
      input(messages, {
        trigger: "threshold",
        contextWindow: 100_000,
        options: compactionOptions({ keepRecentTokens: 500_000, pruneProtectTokens: 0 }),
      }),
    );
    expect(plan).toMatchObject({ kind: "prune", prune: { entryIds: { length: 3 } } });
  });

  it("summarises what was said, not the placeholders", () => {
    const call = toolCall("read", { path: "a" });
    const messages = [
      user("look"),
      assistant([call]),
      toolResult(call, `FOUND IT ${text(60_000)}`),
      assistant("ok"),
      user("a"),
      assistant(prose(30_000)),
      user("b"),
      assistant(prose(30_000)),
    ];
    const plan = planAsWorked(
      input(messages, {
        contextWindow: 64_000,
        options: compactionOptions({ pruneProtectTokens: 0 }),
      }),
    );
    expect(plan.kind).toBe("summarise");
    if (plan.kind !== "summarise") return;
    expect(plan.prune).toBeDefined();
    const summarised = JSON.stringify([...plan.history, ...plan.prefix]);
    expect(summarised).toContain("FOUND IT");
    expect(summarised).not.toContain(PRUNE_PLACEHOLDER);
  });
});

describe("how much is kept", () => {
  const turns = Array.from({ length: 100 }, (_, turn) => [
    user(`q${turn} ${prose(500, turn)}`),
    assistant(prose(500, turn)),
  ]).flat();
  const kept = (extras: Partial<PlanInput>) => {
    const plan = planCompaction(input(turns, { trigger: "overflow", ...extras }));
    return plan.kind === "summarise" ? plan.keptTokens : Number.NaN;
  };

  it.each([
    // Without a reserve these are the budgets; the message that reaches the number is kept too.
    [32_000, 5_000],
    [64_000, 9_700],
    [128_000, 12_700],
    [512_000, 37_000],
  ])("scales with the low mark: window %i, about %i tokens", (contextWindow, tokens) => {
    const options = compactionOptions({ reserveTokensFloor: 0 });
    const scaled = kept({ contextWindow, options });
    expect(scaled).toBeGreaterThanOrEqual(tokens);
    expect(scaled).toBeLessThan(tokens + 1_000);
  });

  it("is more or less where the low mark is set, and no more than keepRecentTokens", () => {
    const keptWith = (raw: Record<string, unknown>) => kept({ options: compactionOptions(raw) });
    expect(keptWith({ lowWaterTokens: 30_000 })).toBeGreaterThan(18_000);
    expect(keptWith({ lowWaterTokens: 4_000 })).toBeLessThan(3_000);
    expect(keptWith({ keepRecentTokens: 5_000 })).toBeLessThan(6_000);
    expect(keptWith({ keepRecentTokens: 500_000 })).toBe(keptWith({}));
  });

  it("is less where the model is known to count more than the estimate", () => {
    expect(kept({ tokenRatio: 1.8 })).toBeLessThan(kept({}) / 1.5);
    expect(kept({ tokenRatio: 0.7 })).toBeGreaterThan(kept({}));
  });

  it("is less where the provider counts more than the estimate", () => {
    const estimated = turns.reduce((sum, message) => sum + estimateMessage(message).estimate, 0);
    expect(kept({ currentTokenCount: estimated * 2 })).toBeLessThan(kept({}) / 1.5);
    expect(kept({ currentTokenCount: 1 })).toBe(kept({}));
    expect(kept({ currentTokenCount: Number.NaN })).toBe(kept({}));
  });

  it.each([8_000, 16_000, 32_000])(
    "is no more than half of the room in a window of %i",
    (contextWindow) => {
      expect(kept({ contextWindow })).toBeLessThanOrEqual(contextWindow / 2);
      expect(kept({ contextWindow, fixedTokens: contextWindow / 4 })).toBeLessThanOrEqual(
        contextWindow / 4,
      );
    },
  );
});

describe("the first kept entry", () => {
  it("is none right after a reset, whatever the reset keeps", async () => {
    const session = memorySession([
      user(prose(30_000)),
      assistant(prose(30_000)),
      user("b"),
      assistant(prose(30_000)),
    ]);
    await session.append([{ type: "reset", firstKeptEntryId: session.branch()[0]!.id }]);
    expect(planCompaction({ ...input([]), branch: session.branch() })).toMatchObject({
      kind: "nothing",
      ok: true,
      reason: expect.stringContaining("just reset"),
    });
    session.say(user("c"), assistant("d"));
    expect(planCompaction({ ...input([]), branch: session.branch() }).kind).toBe("summarise");
  });

  it("takes along the settings right before it, but no boundary", () => {
    const session = memorySession();
    const say = (text: string) => session.say(user(text), assistant(prose(3000)));
    say("one");
    session.say(user("two"));
    const branch = session.branch();
    const settings: NewTranscriptEntry[] = [
      { type: "model_change", provider: "p", modelId: "m" },
      { type: "label", targetId: branch[0]!.id, label: "l" },
    ];
    void session.append(settings);
    session.say(assistant(prose(3000)));
    const plan = planCompaction({ ...input([]), branch: session.branch(), trigger: "overflow" });
    expect(plan).toMatchObject({ kind: "summarise", firstKeptEntryId: session.branch()[2]!.id });
  });
});

describe("any plan over any history", () => {
  const trigger = fc.constantFrom<CompactionTrigger>(
    "manual",
    "threshold",
    "budget",
    "overflow",
    "timeout_recovery",
  );

  it("cuts between groups, names an entry of the branch, and loses no message", () => {
    fc.assert(
      fc.property(anyHistory, anyWindow, trigger, (messages, contextWindow, by) => {
        const session = memorySession(messages);
        const branch = session.branch();
        const plan = planCompaction({ ...input([]), branch, contextWindow, trigger: by });
        if (plan.kind !== "summarise") return;
        const nothingKept = plan.firstKeptEntryId === undefined;
        const at = nothingKept
          ? branch.length
          : branch.findIndex(({ id }) => id === plan.firstKeptEntryId);
        expect(at).toBeGreaterThan(0);
        expect(plan.covered).toEqual(branch.slice(0, at));
        expect([...plan.history, ...plan.prefix]).toEqual(session.context().slice(0, at));
        expect(plan.kept.length).toBe(messages.length - at);
        if (!nothingKept) expect(atomicGroups(messages).map(({ start }) => start)).toContain(at);
        for (const { call, result } of pairToolCalls(messages).pairs)
          expect(call.message < at).toBe(result < at);
      }),
    );
  });

  it("is the same for the same input", () => {
    fc.assert(
      fc.property(anyHistory, anyWindow, (messages, contextWindow) => {
        const one = { ...input(messages), contextWindow };
        expect(planCompaction(one)).toEqual(planCompaction(one));
      }),
    );
  });
});
