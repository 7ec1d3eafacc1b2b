import type {
  AssistantMessage,
  CompactParams,
  CompactResult,
  ContextEngine,
} from "@clew/plugin-sdk/core";
import { delegateCompactionToRuntime } from "@clew/plugin-sdk/core";
import type { CompactionAsk, ModelError } from "@clew/plugin-sdk/host";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import {
  callTool,
  MODEL,
  memoryTranscript,
  passThrough,
  type Reply,
  type TestHost,
  testHost,
  tools,
} from "../__fixtures__/host.ts";
import { type CompactionPort, compactSession, resolveContextEngine } from "../index.ts";
import { planRecovery } from "./tasks/plan-recovery.ts";
import { type LoopFailure, NO_RECOVERY_YET, type RecoveryState } from "./turn.ts";

const overflow = (observedTokens?: number): { error: ModelError } => ({
  error: {
    kind: "overflow",
    message: "too long",
    ...(observedTokens !== undefined && { observedTokens }),
  },
});

/** An engine whose compaction makes the next assembly one message shorter. */
function shrinking(
  ownsCompaction: boolean,
  compact?: (params: CompactParams) => CompactResult | Promise<CompactResult>,
) {
  const calls: CompactParams[] = [];
  let dropped = 0;
  const engine: ContextEngine = {
    info: { id: "shrinking", name: "Shrinking", ownsCompaction },
    ingest: () => ({ ingested: true }),
    assemble: ({ messages }) => ({ messages: messages.slice(dropped), estimatedTokens: 0 }),
    compact: (params) => {
      calls.push(params);
      dropped++;
      return (
        compact?.(params) ?? {
          ok: true,
          compacted: true,
          result: { tokensBefore: 10, tokensAfter: 5 },
        }
      );
    },
  };
  return { engine, calls };
}

describe("overflow recovery", () => {
  it("of a message that no compaction could make room for says how large both are, and what to do", async () => {
    const refusing = testHost({ replies: ["one", overflow()] });
    await refusing.say("hi");
    const refused = await refusing.say("word ".repeat(2000), {
      model: { ...MODEL, contextWindow: 1000 },
      settings: { reserveTokens: 100 },
    });
    expect(refused.error?.message).toMatch(
      /your message has about 1,\d{3} tokens, and with \d+ for system prompt and tools the model takes at most 900 \(window 1,000\)\. No compaction helps: send less/,
    );
    const assumed = testHost({ replies: [overflow()] });
    const { error } = await assumed.say("word ".repeat(2000), {
      model: { ...MODEL, contextWindow: 1000, windowSetting: "window of m" },
    });
    expect(error?.message).toContain(
      "(window 1,000, as nothing says it: set window of m if it is larger)",
    );
  });

  it("of a message larger than the window asks neither the model nor a compaction, and keeps it on record", async () => {
    const { engine, calls } = shrinking(false);
    const host = testHost({ engine, replies: ["one", "never asked"] });
    await host.say("hi");
    const long = "word ".repeat(3000);
    const refused = await host.say(long, { model: { ...MODEL, contextWindow: 1000 } });
    expect(refused.error?.message).toMatch(
      /^Context overflow: your message has about 2,\d{3} tokens/,
    );
    expect(refused.report.modelCalls).toEqual([]);
    expect(calls).toEqual([]);
    const stored = host.ports.transcript
      .branch()
      .flatMap((entry) =>
        entry.type === "message" && entry.message.role === "user" ? [textOf(entry.message)] : [],
      );
    expect(stored).toContain(long);
  });

  it("expects for the rest of the turn what the provider counted, and tells the engine", async () => {
    const { engine, calls } = shrinking(false);
    const counted = 2.6 * 2_000;
    const host = testHost({
      engine,
      replies: [
        "one",
        { error: { kind: "overflow", message: "too long", promptTokens: counted } },
        "two",
      ],
    });
    await host.say("hi");
    const result = await host.say("word ".repeat(1900));
    expect(result.outcome).toBe("completed");
    const [refused] = result.report.modelCalls;
    expect(refused!.failure).toEqual({ kind: "overflow", promptTokens: counted });
    const { tokenRatio } = calls[0]!.runtimeContext as { tokenRatio: number };
    expect(tokenRatio).toBeGreaterThan(1.5);
    expect(tokenRatio).toBeLessThan(4);
    expect(result.report.budget!.tokenRatio).toBe(tokenRatio);
  });

  it("says that nothing was compacted where that was announced", async () => {
    const host = testHost({ replies: ["one", overflow()] });
    await host.say("hi");
    await host.say("more");
    const notices = host.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
    expect(notices).toEqual([
      "Compacting the conversation: the model refused the request as too long.",
      "Nothing was compacted: nothing to compact.",
    ]);
  });

  it.each([true, false])(
    "asks the engine to compact and retries without storing the prompt again (owner: %s)",
    async (owns) => {
      const { engine, calls } = shrinking(owns);
      const host = testHost({ engine, replies: ["one", overflow(120_000), "two"] });
      await host.say("first");
      const result = await host.say("second");
      expect(result.outcome).toBe("completed");
      expect(
        host.ports.transcript.entries.map(
          (entry) => entry.type === "message" && entry.message.role,
        ),
      ).toEqual(["user", "assistant", "user", "assistant"]);
      expect(calls).toHaveLength(1);
      expect(calls[0]).toMatchObject({
        force: true,
        compactionTarget: "budget",
        tokenBudget: MODEL.contextWindow,
        currentTokenCount: 120_000,
        runtimeSettings: {
          runtime: { mode: "degraded" },
          diagnostics: { degradedReason: "context_overflow" },
        },
        runtimeContext: { trigger: "overflow", attempt: 1, maxAttempts: 3 },
      });
      expect(result.report.compactions).toMatchObject([
        { trigger: "overflow", compacted: true, tokensBefore: 10, tokensAfter: 5 },
      ]);
    },
  );

  it.each([true, false])(
    "asks an engine that left much out to compact once, and judges its view after that (owner: %s)",
    async (ownsCompaction) => {
      const calls: CompactParams[] = [];
      const host = testHost({
        engine: passThrough({
          info: { id: "windowed", name: "Windowed", ownsCompaction },
          assemble: ({ messages }) => ({
            messages: messages.slice(-1),
            estimatedTokens: 0,
            promptAuthority: "preassembly_may_overflow",
          }),
          compact: (params) => {
            calls.push(params);
            return { ok: true, compacted: false, reason: "nothing to compact" };
          },
        }),
        ports: {
          compaction: { compact: async () => ({ ok: false, compacted: false, reason: "never" }) },
        },
      });
      const model = { ...MODEL, contextWindow: 4_000 };
      for (const round of [1, 2]) {
        expect((await host.say("word ".repeat(3_000), { model })).outcome).toBe("completed");
        expect(host.ports.model.calls).toHaveLength(round);
      }
      const { outcome, report } = await host.say("And now?", { model });
      expect(outcome).toBe("completed");
      expect(report.compactions.map(({ trigger }) => trigger)).toEqual(["budget"]);
      expect(calls.map(({ runtimeContext }) => runtimeContext?.attempt)).toEqual([1, 1]);
      expect(host.lastSeen().at(-1)).toBe("user: And now?");
    },
  );

  it("gives up after three attempts and tells the person what to do", async () => {
    const { engine, calls } = shrinking(true);
    const host = testHost({ engine, replies: ["a", "b", "c", "d", overflow()] });
    for (const text of ["1", "2", "3", "4"]) await host.say(text);
    const result = await host.say("too much");
    expect(calls).toHaveLength(3);
    expect(result).toMatchObject({ outcome: "failed", error: { kind: "overflow" } });
    expect(result.error?.message).toContain("Try /reset");
  });

  it("does not send the very same request again", async () => {
    const engine = passThrough({
      info: { id: "liar", name: "Liar" },
      compact: () => ({ ok: true, compacted: true }),
    });
    const host = testHost({ engine, replies: [overflow()] });
    const result = await host.say("hi");
    expect(result.outcome).toBe("failed");
    expect(host.ports.model.calls).toHaveLength(1);
  });

  it("an engine that throws in compact is set aside, and its failure is a reason, not a crash", async () => {
    const engine = passThrough({
      info: { id: "thrower", name: "Thrower" },
      compact: () => {
        throw new Error("no disk");
      },
    });
    const host = testHost({ engine, replies: [overflow()] });
    const result = await host.say("hi");
    expect(result.outcome).toBe("failed");
    expect(result.report.compactions).toMatchObject([
      { ok: false, code: "failed", reason: "no disk" },
    ]);
    expect(host.registry.quarantine.get("test", "agent:main:main")).toMatchObject({
      operation: "compact",
      reason: "no disk",
    });
  });

  describe("where no compaction can help", () => {
    const NO_HELP = { ok: true, compacted: false, reason: "not mine" } as const;
    const big = "word ".repeat(12_000);
    /** As many results as there are texts, then an overflow; what was stored of them in the end. */
    async function resultsAfter(
      texts: readonly string[],
      given: { ownsCompaction?: boolean; reader?: string } = {},
    ) {
      const asked: string[] = [];
      const engine = passThrough({
        info: { id: "noop", name: "No-op", ownsCompaction: given.ownsCompaction === true },
        compact: () => {
          asked.push(results().some((text) => text.includes("cut here")) ? "late" : "first");
          return NO_HELP;
        },
      });
      const results = () =>
        host.ports.transcript
          .branch()
          .flatMap((entry) =>
            entry.type === "message" && entry.message.role === "toolResult"
              ? [JSON.stringify(entry.message.content)]
              : [],
          );
      let made = 0;
      const replies: Reply[] = [...texts.map(() => callTool("big")), "done", overflow(), "fits"];
      const read = given.reader === undefined ? {} : { [given.reader]: () => "" };
      const host: TestHost = testHost({
        ...{ engine, replies },
        tools: tools({ big: () => texts[made++] ?? "", ...read }),
      });
      expect((await host.say("make it big")).outcome).toBe("completed");
      const { outcome, report } = await host.say("again");
      const notices = host.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
      const { entries } = host.ports.transcript;
      return { outcome, report, asked, results: results(), entries, notices };
    }

    it.each([true, false])(
      "old tool results are cut in bulk, never the newest, and not before compact was asked (owner: %s)",
      async (ownsCompaction) => {
        const { outcome, report, asked, results, entries, notices } = await resultsAfter(
          [big, big, big, big, big],
          { ownsCompaction },
        );
        expect(outcome).toBe("completed");
        expect(notices.at(-1)).toBe(
          `${report.cut!.results} tool results were shortened, by about ${report.cut!.freedTokens.toLocaleString("en-US")} tokens, so that the next request fits; the transcript has them whole.`,
        );
        expect(report.compactions).toHaveLength(1);
        expect(report.cut?.results).toBeGreaterThan(0);
        expect(report.cut?.freedTokens).toBeGreaterThan(10_000);
        expect(asked).toEqual(["first"]);
        expect(results.map((text) => text.length < 2_000)).toEqual([true, true, true, true, false]);
        expect(results[0]).toContain("the transcript holds the whole result");
        expect(entries.filter((entry) => JSON.stringify(entry).length > 60_000)).toHaveLength(6);
      },
    );

    it.each(["session_read", "lcm_describe"])(
      "a cut names the tool that shows the whole result: %s",
      async (reader) => {
        const { results } = await resultsAfter([big, big, big, big, big], { reader });
        expect(results[0]).toMatch(
          new RegExp(`${reader} with id \\\\"[^"]+\\\\" shows the whole result`),
        );
      },
    );

    it.each([4, 8, 16, 40])(
      "%i results of one reply are cut until the request fits, and those of the next one too",
      async (count) => {
        const dense = Array.from({ length: 60 }, (_, n) => `src/mod_${n}/file_${n}.ts:${n} E${n}`);
        const call = (n: number) => callTool("read", { n }, `call_${n}`).content[0]!;
        const many = (from: number): Reply => ({
          ...{ role: "assistant", stopReason: "toolUse" },
          content: Array.from({ length: count }, (_, n) => call(from + n)),
        });
        const engine = passThrough({ compact: () => NO_HELP });
        const host = testHost({
          ...{ engine, replies: [many(0), many(count), "fine"] },
          tools: tools({ read: ({ n }) => `${n}\n${dense.join("\n")}` }),
        });
        const { outcome, report } = await host.say("read them all", {
          model: { ...MODEL, contextWindow: 8_000 },
        });
        expect(outcome).toBe("completed");
        for (const { messages } of host.ports.model.calls) {
          expect(estimateMessages(messages).estimate).toBeLessThanOrEqual(6_000);
          for (const message of messages) {
            if (message.role !== "toolResult") continue;
            const own = message.toolCallId.replace("call_", "");
            expect(textOf(message)).toMatch(new RegExp(`^(${own}\n|\n\\[)`));
          }
        }
        expect(report.cut?.results ?? 0).toBeGreaterThanOrEqual(count > 4 ? 1 : 0);
      },
    );

    it("nothing stored is touched where that would free less than a fifth of the budget", async () => {
      const { outcome, results } = await resultsAfter(["y".repeat(9_000), "z".repeat(9_000), big]);
      expect(outcome).toBe("failed");
      expect(results.join("")).not.toContain("cut here");
    });
  });

  it.each(["no-conversation", undefined] as const)(
    "a count that asked for a compaction is dropped when the engine's code says there is nothing to compact (%s)",
    async (code) => {
      const engine = passThrough({
        info: { id: "empty", name: "Empty" },
        compact: () => ({
          ok: true,
          compacted: false,
          reason: "no real conversation messages",
          ...(code !== undefined && { code }),
        }),
      });
      const counted: Reply = {
        role: "assistant",
        content: [{ type: "text", text: "hello" }],
        stopReason: "stop",
        usage: {
          input: MODEL.contextWindow,
          output: 1,
          cacheRead: 0,
          cacheWrite: 0,
          totalTokens: MODEL.contextWindow + 1,
        },
      };
      const host = testHost({ engine, replies: [counted, "fits after all"] });
      await host.say("first");
      const result = await host.say("second");
      expect(result.outcome).toBe("completed");
      expect(result.report.compactions[0]?.code).toBe(code);
    },
  );

  it("after a tool ran, the retry goes on from the transcript and does not run it again", async () => {
    let runs = 0;
    const { engine } = shrinking(false);
    const host = testHost({
      engine,
      replies: ["hello", callTool("t"), overflow(), "done"],
      tools: tools({ t: () => `run ${++runs}` }),
    });
    await host.say("first");
    expect((await host.say("use it")).outcome).toBe("completed");
    expect(runs).toBe(1);
  });
});

describe("an owner whose context is compacted in the middle of a turn", () => {
  it("is given every message of the turn exactly once", async () => {
    const delivered: unknown[] = [];
    const engine: ContextEngine = {
      ...passThrough(),
      info: { id: "owner", name: "Owner", ownsCompaction: true },
      afterTurn: ({ messages, prePromptMessageCount }) =>
        void delivered.push(...messages.slice(prePromptMessageCount)),
      compact: async () => {
        const { transcript } = host.ports;
        const prompt = transcript
          .branch()
          .findLast((entry) => entry.type === "message" && entry.message.role === "user")!;
        await transcript.append([
          { type: "compaction", summary: "so far", firstKeptEntryId: prompt.id, tokensBefore: 9 },
        ]);
        return { ok: true, compacted: true, result: { tokensBefore: 9, tokensAfter: 1 } };
      },
    };
    const replies: Reply[] = [
      "a",
      "b",
      callTool("t", {}, "c1"),
      overflow(),
      callTool("t", {}, "c2"),
      "done",
    ];
    const host: TestHost = testHost({ engine, replies, tools: tools({ t: () => "x" }) });
    for (const text of ["one", "two", "three"])
      expect((await host.say(text)).outcome).toBe("completed");
    const stored = host.ports.transcript
      .branch()
      .flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    expect(delivered).toEqual(stored);
  });
});

describe("timeout recovery", () => {
  const usage = (input: number) => ({
    input,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: input + 1,
  });
  const answer = (input: number): Reply => ({
    role: "assistant",
    content: [{ type: "text", text: "ok" }],
    stopReason: "stop",
    usage: usage(input),
  });
  const timeout: Reply = {
    error: { kind: "timeout", message: "The model did not answer in time." },
  };

  it("compacts when the context is fuller than 65 % of the budget, at most twice", async () => {
    const { engine, calls } = shrinking(true);
    const host = testHost({ engine, replies: [answer(70_000), timeout] });
    await host.say("first");
    expect((await host.say("second")).outcome).toBe("failed");
    expect(calls.map((call) => call.runtimeContext?.trigger)).toEqual([
      "timeout_recovery",
      "timeout_recovery",
    ]);
    expect(calls[0]).not.toHaveProperty("currentTokenCount");
  });

  it("does not take a timeout of a small request for one of size", async () => {
    const { engine, calls } = shrinking(true);
    const host = testHost({ engine, replies: [answer(10_000), timeout] });
    await host.say("first");
    expect((await host.say("second")).error?.kind).toBe("timeout");
    expect(calls).toEqual([]);
  });
});

describe("a request that the provider took although it does not fit", () => {
  const taken = (input: number): Reply => ({
    error: { kind: "overflow", message: "too long", observedTokens: input },
    arrived: {
      role: "assistant",
      content: [{ type: "text", text: "Untrusted." }],
      stopReason: "error",
      usage: { input, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: input + 2 },
    },
  });

  it.each([true, false])(
    "is not asked again once a person saw of its reply; the next turn compacts first (owner: %s)",
    async (owns) => {
      const { engine, calls } = shrinking(owns);
      const host = testHost({ engine, replies: ["one", taken(120_000), "two"] });
      await host.say("first");
      const refused = await host.say("second");
      expect(refused.error?.message).toBe(
        "Context overflow: the model answered, but its provider counted 120,000 tokens for a window of 100,000, so that the reply cannot be trusted. Ask again: the conversation is compacted before your next message is answered.",
      );
      expect([host.ports.model.calls.length, calls.length]).toEqual([2, 0]);
      const next = await host.say("third");
      expect(next.outcome).toBe("completed");
      expect(next.report.compactions).toMatchObject([{ trigger: "budget", compacted: true }]);
      expect(calls[0]!.currentTokenCount).toBeGreaterThan(120_000);
      expect(host.ports.model.calls).toHaveLength(3);
      expect(host.events).toContainEqual({
        type: "notice",
        text: "Compacting the conversation: the next request would not fit.",
      });
    },
  );

  it("is sent again at once to a listener that shows nobody the reply as it comes", async () => {
    const { engine } = shrinking(false);
    const host = testHost({ engine, replies: ["one", taken(120_000), "two"] });
    await host.say("first");
    const again = await host.say("second", { isWatched: false });
    expect([again.outcome, host.ports.model.calls.length]).toEqual(["completed", 3]);
    const { afterCalls, ...compaction } = again.report.compactions[0]!;
    expect(afterCalls).toBe(1);
    expect(host.events).toContainEqual({ type: "compaction", compaction });
  });

  it("is made smaller and sent again at once where nobody saw of its reply", async () => {
    const { engine, calls } = shrinking(false);
    const unseen = taken(120_000) as Extract<Reply, { error: ModelError }>;
    const host = testHost({
      engine,
      replies: ["one", { ...unseen, arrived: { ...unseen.arrived!, content: [] } }, "two"],
    });
    await host.say("first");
    expect((await host.say("second")).outcome).toBe("completed");
    expect(calls[0]).toMatchObject({ currentTokenCount: 120_000 });
  });
});

describe("the check before a request", () => {
  it("holds back what cannot fit, for owners too, and compacts to the prompt budget", async () => {
    const { engine, calls } = shrinking(true);
    const sent: number[] = [];
    const host = testHost({ engine, replies: ["ok"] });
    await host.say("x ".repeat(147_000), {
      onEvent: ({ type }) => void (type === "text" && sent.push(calls.length)),
    });
    // It said that it compacted, and the same request came back: it is not asked again.
    expect(sent).toEqual([1]);
    expect(calls[0]).toMatchObject({ tokenBudget: 80_000, runtimeContext: { trigger: "budget" } });
  });

  it.each([true, false])(
    "asks the built-in compaction when the engine's changed nothing, owner: %s",
    async (ownsCompaction) => {
      let asked = 0;
      const engine = passThrough({
        info: { id: "lying", name: "Lying", ownsCompaction },
        compact: () => {
          asked++;
          return { ok: true, compacted: true, result: { tokensBefore: 9, tokensAfter: 1 } };
        },
      });
      const overflow: Reply = { error: { kind: "overflow", message: "too long" } };
      let builtIn = 0;
      const host = testHost({ engine, replies: ["one", "two", overflow, "answered"] });
      host.ports.compaction = {
        async compact() {
          builtIn++;
          const firstKeptEntryId = host.ports.transcript.branch().at(-1)!.id;
          await host.ports.transcript.append([
            { type: "compaction", summary: "short", firstKeptEntryId, tokensBefore: 9 },
          ]);
          return { ok: true, compacted: true, result: { tokensBefore: 9, tokensAfter: 1 } };
        },
      };
      await host.say("a");
      await host.say("b");
      expect((await host.say("c")).outcome).toBe("completed");
      expect([asked, builtIn]).toEqual([1, 1]);
    },
  );
});

describe("compaction by threshold", () => {
  /** A small real built-in compaction: replaces everything before the last user message. */
  function builtIn(host: () => TestHost): CompactionPort & { calls: CompactionAsk[] } {
    const calls: CompactionAsk[] = [];
    return {
      calls,
      async compact(ask) {
        calls.push(ask);
        const { transcript } = host().ports;
        const kept = transcript
          .branch()
          .findLast((entry) => entry.type === "message" && entry.message.role === "user")!;
        await transcript.append([
          { type: "compaction", summary: "so far", firstKeptEntryId: kept.id, tokensBefore: 1 },
        ]);
        return {
          ok: true,
          compacted: true,
          result: { tokensBefore: 2, tokensAfter: 1, summary: "so far" },
        };
      },
    };
  }
  const full: Reply = {
    role: "assistant",
    content: [{ type: "text", text: "long" }],
    stopReason: "stop",
    usage: { input: 90_000, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 90_001 },
  };

  it.each([
    { owner: false, enabled: true, built: 1 },
    { owner: true, enabled: true, built: 0 },
    { owner: false, enabled: false, built: 0 },
  ])(
    "owner $owner, enabled $enabled: the host's own runs $built times after the turn, the engine is not asked",
    async ({ owner, enabled, built }) => {
      const { engine, calls } = shrinking(owner);
      const port = builtIn(() => host);
      const host: TestHost = testHost({ engine, replies: [full], ports: { compaction: port } });
      const result = await host.say("hi", { settings: { autoCompaction: enabled } });
      expect(result.outcome).toBe("completed");
      expect(port.calls).toHaveLength(built);
      expect(calls).toEqual([]);
      if (built > 0)
        expect(port.calls[0]).toMatchObject({
          trigger: "threshold",
          tokenBudget: 80_000,
          currentTokenCount: expect.any(Number),
        });
    },
  );

  it("counts what requests show: a result that is shown shortened does not fill the context", async () => {
    const port = builtIn(() => host);
    const host: TestHost = testHost({
      replies: [callTool("t"), "done"],
      tools: tools({ t: () => "word ".repeat(80_000) }),
      ports: { compaction: port },
    });
    const { outcome, report } = await host.say("use it", {
      model: { ...MODEL, contextWindow: 40_000 },
    });
    expect([outcome, report.compactions]).toEqual(["completed", []]);
    expect(port.calls).toEqual([]);
  });

  it("begins at the high water mark, well before the window is full, and not for a short session", async () => {
    const large: Reply = { ...full, usage: { ...full.usage!, input: 73_000, totalTokens: 73_001 } };
    const small: Reply = { ...full, usage: { ...full.usage!, input: 900, totalTokens: 901 } };
    const after = async (calls: number) => {
      const port = builtIn(() => host);
      const replies = [...Array<Reply>(calls).fill(small), large];
      const host: TestHost = testHost({ replies, ports: { compaction: port } });
      for (let call = 0; call <= calls; call++) await host.say(`hi ${call}`);
      return port.calls.length;
    };
    // 72,350 of a budget of 80,000.
    expect(await after(30)).toBe(1);
    expect(await after(2)).toBe(0);
  });

  it("does not come again above the mark where the request alone takes most of the room, and says so once", async () => {
    const request = "word ".repeat(19_000);
    let compactions = 0;
    const keepsRequest: CompactionPort = {
      async compact() {
        compactions++;
        const { transcript } = host.ports;
        const kept = transcript
          .branch()
          .findLast((entry) => entry.type === "message" && entry.message.role === "assistant")!;
        await transcript.append([
          { type: "compaction", summary: request, firstKeptEntryId: kept.id, tokensBefore: 1 },
        ]);
        return { ok: true, compacted: true };
      },
    };
    const before = Array<Reply>(30).fill("fine");
    const steps = Array.from({ length: 20 }, (_, step) => callTool("t", {}, `c${step}`));
    const host: TestHost = testHost({
      replies: [...before, ...steps, "done"],
      tools: tools({ t: () => "word ".repeat(500) }),
      ports: { compaction: keepsRequest },
    });
    const options = { model: { ...MODEL, contextWindow: 23_000 } };
    for (let call = 0; call < 30; call++) await host.say(`hi ${call}`, options);
    const notices: string[] = [];
    const { outcome } = await host.say(request, {
      ...options,
      onEvent: (event) => event.type === "notice" && notices.push(event.text),
    });
    expect(outcome).toBe("completed");
    // Above the mark it would be ten times: these are for what does not fit.
    expect(compactions).toBeGreaterThan(0);
    expect(compactions).toBeLessThan(5);
    expect(notices.filter((text) => text.startsWith("What this turn must keep"))).toHaveLength(1);
  });

  it("that changed nothing is not tried again in the turn, as long as the request fits", async () => {
    const asked: CompactionAsk[] = [];
    const vain: CompactionPort = {
      compact: async (ask) => {
        asked.push(ask);
        return { ok: true, compacted: false, reason: "nothing to compact" };
      },
    };
    const counted = (input: number, reply: AssistantMessage): Reply => ({
      ...reply,
      usage: { input, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: input + 1 },
    });
    const steps = Array.from({ length: 60 }, (_, step) =>
      counted(step < 50 ? 900 : 73_000, callTool("t", {}, `c${step}`)),
    );
    const host = testHost({
      replies: [...steps, "done"],
      tools: tools({ t: () => "x" }),
      ports: { compaction: vain },
    });
    expect((await host.say("go")).outcome).toBe("completed");
    expect(asked).toHaveLength(1);
  });

  it("runs between model calls of one turn, which then goes on from the summary", async () => {
    const port = builtIn(() => host);
    const step: Reply = {
      ...callTool("t"),
      usage: { input: 90_000, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 90_001 },
    };
    const host: TestHost = testHost({
      replies: ["one", step, "done"],
      tools: tools({ t: () => "x" }),
      ports: { compaction: port },
    });
    await host.say("first");
    expect((await host.say("second")).outcome).toBe("completed");
    expect(host.lastSeen()).toEqual([
      "compactionSummary",
      "user: second",
      "assistant: [toolCall]",
      "toolResult: x",
    ]);
  });

  it("that hangs is given up at the bound, and the reply stands", async () => {
    const hanging: CompactionPort = { compact: () => new Promise(() => {}) };
    const host = testHost({
      replies: [full],
      ports: { compaction: hanging },
      registry: { bounds: () => ({ compact: 20 }) },
    });
    const result = await host.say("hi");
    expect(result.outcome).toBe("completed");
    expect(result.report.compactions).toMatchObject([
      {
        trigger: "threshold",
        ok: false,
        reason: expect.stringContaining("did not finish compact"),
      },
    ]);
  });

  it("is what delegateCompactionToRuntime reaches, also from an engine that accepts no host parameters", async () => {
    const port = builtIn(() => host);
    const engine: ContextEngine = {
      ...passThrough({ compact: delegateCompactionToRuntime }),
      info: { id: "strict", name: "Strict", acceptedHostParams: [] },
    };
    const host: TestHost = testHost({
      engine,
      replies: ["one", overflow(), "two"],
      ports: { compaction: port },
    });
    await host.say("first");
    expect((await host.say("second")).outcome).toBe("completed");
    expect(port.calls).toHaveLength(1);
  });

  it("a host without built-in compaction says so", async () => {
    const engine = passThrough({
      info: { id: "x", name: "X" },
      compact: delegateCompactionToRuntime,
    });
    const result = await testHost({ engine, replies: [overflow()] }).say("hi");
    expect(result.report.compactions).toMatchObject([
      { ok: false, reason: "this host offers no built-in compaction" },
    ]);
  });
});

describe("compaction hooks", () => {
  it("are told before and after, with unknown counts, and cannot break the run", async () => {
    const events: unknown[] = [];
    const { engine } = shrinking(true);
    const host = testHost({
      engine,
      replies: ["one", overflow(5), "ok"],
      ports: {
        hooks: {
          beforeCompaction: async ({ trigger, messageCount, tokenCount }) =>
            void events.push({ trigger, messageCount, tokenCount }),
          afterCompaction: async ({ compacted, tokenCount }) => {
            events.push({ compacted, tokenCount });
            throw new Error("hook broke");
          },
        },
      },
    });
    await host.say("first");
    expect((await host.say("second")).outcome).toBe("completed");
    expect(events).toEqual([
      { trigger: "overflow", messageCount: -1, tokenCount: 5 },
      { compacted: true, tokenCount: 5 },
    ]);
    expect(host.log.lines).toContain("warn afterCompaction hook failed: hook broke");
  });
});

describe("/compact", () => {
  it.each([true, false])(
    "goes to the engine, to the threshold, marked as manual (owner: %s)",
    async (owns) => {
      const { engine, calls } = shrinking(owns);
      const host = testHost({ engine });
      await host.say("hi");
      const resolved = await resolveContextEngine({
        registry: host.registry,
        config: { plugins: { slots: { contextEngine: "test" } } },
      });
      const { result } = await compactSession({
        engine: resolved,
        ports: host.ports,
        state: host.state,
        model: MODEL,
        customInstructions: "keep the numbers",
      });
      expect(result).toMatchObject({ ok: true, compacted: true });
      expect(calls[0]).toMatchObject({
        force: true,
        compactionTarget: "threshold",
        customInstructions: "keep the numbers",
        runtimeContext: { trigger: "manual", manualCompaction: true, forceReason: "manual" },
      });
    },
  );
});

describe("a successor transcript", () => {
  it("takes the running turn along, tool results too, and the engine is given none of it twice", async () => {
    const successor = memoryTranscript([], "moved-");
    Object.assign(successor.session, { sessionId: "session-2" });
    const given: string[] = [];
    const engine: ContextEngine = {
      ...shrinking(true, () => ({
        ok: true,
        compacted: true,
        result: { tokensBefore: 2, tokensAfter: 1, sessionId: "session-2" },
      })).engine,
      afterTurn: ({ messages, prePromptMessageCount }) =>
        void given.push(...messages.slice(prePromptMessageCount).map(({ role }) => role)),
      assemble: ({ messages }) => ({ messages, estimatedTokens: 0 }),
    };
    const host = testHost({
      engine,
      replies: ["one", callTool("t"), overflow(), "done"],
      tools: tools({ t: () => "x" }),
      ports: { successors: { adopt: async () => successor } },
    });
    await host.say("before");
    expect((await host.say("now")).outcome).toBe("completed");
    expect(host.lastSeen()).toEqual(["user: now", "assistant: [toolCall]", "toolResult: x"]);
    expect(given).toEqual(["user", "assistant", "user", "assistant", "toolResult", "assistant"]);
  });

  it("is adopted by compare-and-set, and the run goes on in it", async () => {
    const successor = memoryTranscript([], "moved-");
    Object.assign(successor.session, {
      sessionId: "session-2",
      sessionFile: "/nowhere/session-2.jsonl",
    });
    const { engine } = shrinking(true, () => ({
      ok: true,
      compacted: true,
      result: { tokensBefore: 2, tokensAfter: 1, sessionId: "session-2" },
    }));
    const moves: string[] = [];
    const host = testHost({
      engine,
      replies: [overflow(), "on the other side"],
      ports: {
        successors: {
          adopt: async ({ from, sessionId }) => {
            moves.push(`${from.sessionId} to ${sessionId}`);
            return successor;
          },
        },
      },
    });
    const result = await host.say("hi");
    expect(moves).toEqual(["session-1 to session-2"]);
    expect(result.report.sessionId).toBe("session-2");
    expect(successor.entries.at(-1)).toMatchObject({ message: { role: "assistant" } });
    expect(host.lastSeen()).toEqual(["user: hi"]);
  });
});

describe("planRecovery", () => {
  const failure = (kind: ModelError["kind"], heldBack?: true): LoopFailure => ({
    error: { kind, message: "" } as ModelError,
    partial: { role: "assistant", content: [], stopReason: "error" },
    ...(heldBack && { heldBack }),
  });

  const sent = { hash: "h", at: 7, shown: false };
  const LARGER = { ...MODEL, provider: "third", contextWindow: 2 * MODEL.contextWindow };

  it.each<{
    name: string;
    given: LoopFailure & { others?: true; alone?: true };
    tried: Partial<RecoveryState>;
    step: object;
  }>([
    {
      name: "a provider's overflow compacts",
      given: failure("overflow"),
      tried: {},
      step: { kind: "compact", trigger: "overflow", attempt: 1 },
    },
    {
      name: "a held-back request compacts to the budget",
      given: failure("overflow", true),
      tried: {},
      step: { kind: "compact", trigger: "budget" },
    },
    {
      name: "a built-in compaction that just ran is only retried",
      given: failure("overflow"),
      tried: { autoCompacted: true },
      step: { kind: "retry" },
    },
    {
      name: "after three attempts tool results are cut once",
      given: failure("overflow"),
      tried: { overflowAttempts: 3 },
      step: { kind: "cut" },
    },
    {
      name: "then the person is told",
      given: failure("overflow"),
      tried: { overflowAttempts: 3, cut: true },
      step: { kind: "surface" },
    },
    {
      name: "and a model that holds more is asked before that",
      given: { ...failure("overflow"), others: true },
      tried: { overflowAttempts: 3, cut: true },
      step: { kind: "fall-back", to: 1 },
    },
    {
      name: "also instead of sending what is only estimated as too large",
      given: { ...failure("overflow", true), others: true },
      tried: { overflowAttempts: 3, cut: true },
      step: { kind: "fall-back", to: 1 },
    },
    {
      name: "which is sent where nobody holds more",
      given: failure("overflow", true),
      tried: { overflowAttempts: 3, cut: true },
      step: { kind: "send" },
    },
    {
      name: "but not where the message alone is larger than the window",
      given: { ...failure("overflow", true), alone: true },
      tried: {},
      step: { kind: "surface" },
    },
    {
      name: "unless another model holds it",
      given: { ...failure("overflow", true), alone: true, others: true },
      tried: {},
      step: { kind: "fall-back", to: 1 },
    },
    {
      name: "a failed model gives way to the next",
      given: { ...failure("overloaded"), others: true },
      tried: {},
      step: { kind: "fall-back", to: 0 },
    },
    {
      name: "without a next one the person is told at once",
      given: failure("auth"),
      tried: {},
      step: { kind: "surface" },
    },
    {
      name: "a refusal is answered by its remedy, before anybody else is asked",
      given: { ...failure("encrypted_content"), sent, others: true },
      tried: {},
      step: { kind: "remedy", remedy: { kind: "without-proofs", until: 7 } },
    },
    {
      name: "once",
      given: { ...failure("encrypted_content"), sent, others: true },
      tried: { remedies: ["without-proofs" as const] },
      step: { kind: "fall-back", to: 0 },
    },
    {
      name: "what a person has seen the beginning of is not asked again",
      given: { ...failure("network"), sent: { ...sent, shown: true }, others: true },
      tried: {},
      step: { kind: "surface" },
    },
    {
      name: "nor is it made smaller",
      given: { ...failure("overflow"), sent: { ...sent, shown: true }, others: true },
      tried: {},
      step: { kind: "surface" },
    },
    {
      name: "an abort is nobody's failure",
      given: { ...failure("aborted"), sent, others: true },
      tried: {},
      step: { kind: "surface" },
    },
  ])("$name", ({ given, tried, step }) => {
    const facts = {
      fill: 0,
      compacts: false,
      isUnwindowed: false,
      isTooLargeAlone: given.alone === true,
      isExecuted: false,
      model: MODEL,
      candidates:
        given.others !== true
          ? []
          : [{ model: { ...MODEL, provider: "other" } }, { model: LARGER }],
    };
    expect(planRecovery(given, { ...NO_RECOVERY_YET, ...tried }, facts)).toMatchObject(step);
  });
});
