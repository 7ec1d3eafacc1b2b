import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../contract/message.ts";
import { assistant, conversation, toolCall, toolResult, user } from "../testing/messages.ts";
import { chars4Message, estimateMessage } from "../tokens/message.ts";
import { applyPrune, decidePruneEnough, PRUNE_PLACEHOLDER, planPrune } from "./prune.ts";
import { pairToolCalls } from "./tool-pairs.ts";

interface FixtureMessage {
  role: string;
  tokens: number;
  toolName?: string;
  images?: number;
  pruned?: boolean;
  isError?: boolean;
  summary?: boolean;
  calls?: number;
}
interface Fixture {
  name: string;
  config: {
    protectTokens?: number;
    minimumTokens?: number;
    extraProtectedTools?: string[];
    contextWindow?: number;
  };
  messages: FixtureMessage[];
  expect: {
    didPrune: boolean;
    pruned: number[];
    prunableTokens: number;
    prunableCount: number;
    tokensBefore: number;
    tokensAfter: number;
    contextWindow: number;
    stopsAfterPrune: boolean;
  };
  recommended?: { pruned?: number[]; didPrune?: boolean };
}
const { cases }: { cases: Fixture[] } = JSON.parse(
  readFileSync(new URL("__fixtures__/prune-cases.json", import.meta.url), "utf8"),
);

const text = (tokens: number) => "x".repeat(tokens * 4);

function build({
  role,
  tokens,
  toolName,
  images = 0,
  pruned,
  isError = false,
  summary,
  calls = 0,
}: FixtureMessage): AgentMessage {
  const empty = Array.from({ length: calls }, (_, index) => ({
    type: "toolCall" as const,
    id: `${index}`,
    name: "",
    arguments: {},
  }));
  const image = { type: "image" as const, data: "", mimeType: "image/png" };
  switch (role) {
    case "user":
      return { role, content: text(tokens) };
    case "assistant":
      return {
        ...assistant([{ type: "text", text: text(tokens) }, ...empty]),
        ...(summary && { summary }),
      } as AssistantMessage;
    case "bashExecution":
      return { role, command: "", output: text(tokens) };
    default:
      return {
        role: "toolResult",
        toolCallId: "c",
        toolName: toolName!,
        isError,
        content: [
          { type: "text", text: pruned ? PRUNE_PLACEHOLDER : text(tokens) },
          ...Array.from({ length: images }, () => image),
        ],
        ...(pruned && { prunedAt: 1 }),
      };
  }
}

// Where our rules are not the reference's, its counts of what could be cleared are not ours either
// (spec §1.2, rules 8, 9, 12, 13).
const OTHER_COUNTS = [17, 21, 22, 25, 26];

describe.each(cases.map((one, index) => [index + 1, one.name, one] as const))(
  "worked case %i, %s",
  (number, _name, one) => {
    const messages = one.messages.map(build);
    const { extraProtectedTools, contextWindow = 200_000, ...options } = one.config;
    const settings = {
      ...options,
      ...(extraProtectedTools && { protectedTools: extraProtectedTools }),
    };
    const plan = planPrune(messages, settings, chars4Message);
    const before = chars4Sum(messages);
    const after = chars4Sum(applyPrune(messages, plan));

    it("clears what it should and reaches the stated numbers", () => {
      const wanted = one.recommended?.pruned ?? one.expect.pruned;
      expect(plan.clear).toEqual(wanted);
      expect(plan.clear.length > 0).toBe(
        one.recommended?.didPrune ??
          (one.recommended?.pruned ? wanted.length > 0 : one.expect.didPrune),
      );
      expect(before).toBe(one.expect.tokensBefore);
      if (!OTHER_COUNTS.includes(number)) {
        expect({ after, prunable: plan.prunable, count: plan.prunableCount }).toEqual({
          after: one.expect.tokensAfter,
          prunable: one.expect.prunableTokens,
          count: one.expect.prunableCount,
        });
        const decision = decidePruneEnough({ plan, tokensBefore: before, contextWindow });
        expect(decision).toEqual({
          enough: one.expect.stopsAfterPrune,
          tokensAfter: one.expect.tokensAfter,
        });
      }
      expect(before - after).toBe(plan.freed);
    });
  },
);

it("has the 29 worked cases", () => {
  expect(cases).toHaveLength(29);
});

const chars4Sum = (messages: readonly AgentMessage[]) =>
  messages.reduce((sum, message) => sum + chars4Message(message), 0);

/** Histories with turns, summaries, protected tools, short and long results, parallel calls. */
const history = fc
  .array(
    fc.record({
      kind: fc.constantFrom("user", "tools", "tools", "tools", "summary", "answer"),
      sizes: fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 3 }),
      tool: fc.constantFrom("read", "exec", "skill", ""),
      protect: fc.boolean(),
    }),
    { maxLength: 40 },
  )
  .map((parts) =>
    parts.flatMap(({ kind, sizes, tool, protect }, part): AgentMessage[] => {
      if (kind === "user") return [user(`request ${part}`)];
      if (kind === "answer") return [assistant(`answer ${part}`)];
      if (kind === "summary")
        return part % 5 === 0
          ? [{ role: "compactionSummary", summary: "before" }]
          : [assistant("so far")];
      const calls = sizes.map((_, index) => toolCall(tool || "read", {}, `call-${part}-${index}`));
      const results = calls.map((call, index): ToolResultMessage => {
        const result = toolResult({ ...call, name: tool }, "word ".repeat(sizes[index]!), {
          details: { size: sizes[index] },
        });
        return protect && index === 0 ? { ...result, pruneProtect: true } : result;
      });
      return [assistant(calls), ...results];
    }),
  );
const options = fc.record({
  protectTokens: fc.nat({ max: 600 }),
  minimumTokens: fc.nat({ max: 400 }),
  protectedTools: fc.subarray(["exec"]),
});
const counts = fc.constantFrom(
  chars4Message,
  (message: AgentMessage) => estimateMessage(message).low,
);

describe("planPrune and applyPrune, for any history", () => {
  it("free exactly what the counts say, clear nothing twice, grow nothing, part no pair and change no input", () => {
    fc.assert(
      fc.property(history, options, counts, (messages, settings, countOf) => {
        const given = structuredClone(messages);
        const plan = planPrune(messages, settings, countOf);
        const pruned = applyPrune(messages, plan, { now: 7 });
        const count = (list: readonly AgentMessage[]) =>
          list.reduce((sum, message) => sum + countOf(message), 0);
        expect(messages).toEqual(given);
        expect(count(messages) - count(pruned)).toBe(plan.freed);
        expect(plan.freed).toBeGreaterThanOrEqual(0);
        expect(planPrune(pruned, settings, countOf).clear).toEqual([]);
        expect(pairToolCalls(pruned)).toEqual(pairToolCalls(messages));
        pruned.forEach((message, index) => {
          if (!plan.clear.includes(index)) expect(message).toBe(messages[index]);
        });
        for (const index of plan.clear) {
          const message = pruned[index] as ToolResultMessage;
          expect(message).toMatchObject({
            role: "toolResult",
            content: [{ type: "text", text: PRUNE_PLACEHOLDER }],
            prunedAt: 7,
          });
          expect("details" in message).toBe(false);
        }
      }),
    );
  });

  it("touch nothing in the last two user turns, before a summary, of protected tools or of protected messages", () => {
    fc.assert(
      fc.property(history, options, (messages, settings) => {
        const users = messages.flatMap((message, index) =>
          message.role === "user" ? [index] : [],
        );
        const zone = users.at(-2) ?? 0;
        const summary = messages.findLastIndex(({ role }) => role === "compactionSummary");
        for (const index of planPrune(messages, settings).clear) {
          const message = messages[index] as ToolResultMessage;
          expect(index).toBeLessThan(zone);
          expect(index).toBeGreaterThan(summary);
          expect(message.pruneProtect).not.toBe(true);
          expect(["skill", ...settings.protectedTools]).not.toContain(message.toolName);
        }
      }),
    );
  });

  it("keep cleared what was cleared, however the session goes on", () => {
    fc.assert(
      fc.property(history, history, options, (messages, more, settings) => {
        const first = applyPrune(messages, planPrune(messages, settings), { now: 1 });
        const grown = [...first, ...more];
        const second = applyPrune(grown, planPrune(grown, settings), { now: 2 });
        first.forEach((message, index) => {
          if (message.role === "toolResult" && message.prunedAt === 1)
            expect(second[index]).toBe(message);
        });
      }),
    );
  });
});

describe("planPrune", () => {
  const large = (name: string, extras: Partial<ToolResultMessage> = {}) =>
    toolResult(toolCall(name, {}, `id-${name}`), text(60_000), extras);

  it("asks the call for the tool's name where the result has none", () => {
    const call = toolCall("skill", {}, "c1");
    const messages = [
      user("a"),
      assistant([call]),
      toolResult({ id: "c1", name: "" }, text(60_000)),
      user("b"),
      user("c"),
    ];
    expect(planPrune(messages, {}, chars4Message).clear).toEqual([]);
    expect(
      planPrune([...messages.slice(0, 1), ...messages.slice(2)], {}, chars4Message).clear,
    ).toEqual([1]);
  });

  it("takes its defaults for numbers that are none", () => {
    const messages = [user("a"), large("exec"), user("b"), user("c")];
    for (const odd of [Number.NaN, -1, Number.POSITIVE_INFINITY])
      expect(
        planPrune(messages, { protectTokens: odd, minimumTokens: odd }, chars4Message),
      ).toEqual(planPrune(messages, {}, chars4Message));
  });

  it("counts with the low estimate, since content is discarded", () => {
    const messages = [user("a"), large("exec"), user("b"), user("c")];
    expect(planPrune(messages, { protectTokens: 0, minimumTokens: 0 }).prunable).toBe(
      estimateMessage(messages[1]!).low,
    );
    expect(planPrune(messages, { protectTokens: 0, minimumTokens: 0 }, () => 3).prunable).toBe(0);
  });

  it("says where a summary ended its walk", () => {
    const messages: AgentMessage[] = [
      ...conversation({ turns: 2 }),
      { role: "compactionSummary", summary: "s" },
      ...conversation({ turns: 3 }),
    ];
    expect(planPrune(messages).stoppedAt).toBe(4);
    expect(planPrune(conversation({ turns: 3 })).stoppedAt).toBeNull();
  });
});

describe("decidePruneEnough", () => {
  const plan = { clear: [1], freed: 100 };
  it("starts from what the provider counted when that is more, and adds what is no message", () => {
    expect(
      decidePruneEnough({ plan, tokensBefore: 500, fixedTokens: 50, contextWindow: 563 }),
    ).toEqual({ enough: true, tokensAfter: 450 });
    expect(
      decidePruneEnough({
        plan,
        tokensBefore: 500,
        fixedTokens: 50,
        observedTokens: 700,
        contextWindow: 750,
      }),
    ).toEqual({
      enough: false,
      tokensAfter: 600,
    });
  });

  it("never stops short of a summary a person asked for, nor when nothing was cleared", () => {
    expect(
      decidePruneEnough({ plan, tokensBefore: 500, contextWindow: 10_000, hasFocus: true }).enough,
    ).toBe(false);
    expect(
      decidePruneEnough({ plan: { clear: [], freed: 0 }, tokensBefore: 5, contextWindow: 10_000 })
        .enough,
    ).toBe(false);
  });
});
