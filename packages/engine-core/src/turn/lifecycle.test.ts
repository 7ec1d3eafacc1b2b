import type { AssistantMessage, ContextEngine, PromptCacheInfo } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { callTool, memoryTranscript, passThrough, testHost, tools } from "../__fixtures__/host.ts";

/** An engine that writes down how it was called. */
function recorder(overrides: Partial<ContextEngine> = {}) {
  const calls: string[] = [];
  const noted = <T>(line: string, result: T): T => {
    calls.push(line);
    return result;
  };
  const engine: ContextEngine = {
    info: { id: "recorder", name: "Recorder" },
    bootstrap: ({ sessionFile }) => noted(`bootstrap ${sessionFile}`, { bootstrapped: true }),
    maintain: () => noted("maintain", { changed: false, bytesFreed: 0, rewrittenEntries: 0 }),
    ingest: ({ message }) => noted(`ingest ${message.role}`, { ingested: true }),
    afterTurn: ({ messages, prePromptMessageCount }) =>
      void calls.push(`afterTurn ${messages.length} from ${prePromptMessageCount}`),
    assemble: ({ messages, prompt }) =>
      noted(`assemble ${messages.length} prompt=${prompt}`, { messages, estimatedTokens: 0 }),
    compact: () => ({ ok: true, compacted: false }),
    ...overrides,
  };
  return { engine, calls, noted };
}

describe("the eager lifecycle", () => {
  it("bootstraps only when the transcript existed, then assembles without the prompt, then finalises", async () => {
    const { engine, calls } = recorder();
    const host = testHost({ engine });
    await host.say("one");
    await host.say("two");
    expect(calls).toEqual([
      "assemble 0 prompt=one",
      "afterTurn 2 from 0",
      "maintain",
      "bootstrap /nowhere/session-1.jsonl",
      "maintain",
      "assemble 2 prompt=two",
      "afterTurn 4 from 2",
      "maintain",
    ]);
  });

  it("hands everything over, and asks no engine to read, where the host keeps no file", async () => {
    const { engine, calls } = recorder();
    const transcript = memoryTranscript();
    const { sessionFile: _none, ...session } = transcript.session;
    Object.assign(transcript, { session });
    await testHost({ transcript }).say("before the engine");
    await testHost({ engine, transcript }).say("two");
    expect(calls).toEqual([
      "maintain",
      "afterTurn 2 from 0",
      "assemble 2 prompt=two",
      "afterTurn 4 from 2",
      "maintain",
    ]);
  });

  it("names no file in any call of a host without files", async () => {
    const called: string[] = [];
    const named: string[] = [];
    const look = (method: string, params: object) => {
      called.push(method);
      const text = JSON.stringify(params);
      if (/sessionFile|storePath|transcriptStorage/.test(text)) named.push(`${method}: ${text}`);
    };
    const { engine } = recorder({
      info: { id: "recorder", name: "Recorder", ownsCompaction: true },
      maintain: (params) => {
        look("maintain", params);
        return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
      },
      afterTurn: (params) => look("afterTurn", params),
      compact: (params) => {
        look("compact", params);
        return { ok: false, compacted: false, reason: "this engine needs a file" };
      },
    });
    const transcript = memoryTranscript();
    const { sessionFile: _none, ...session } = transcript.session;
    Object.assign(transcript, { session });
    const error = { kind: "overflow" as const, message: "too large", providerText: "" };
    const host = testHost({ engine, transcript, replies: ["one", { error }] });
    await host.say("one");
    await host.say("two");
    expect(named).toEqual([]);
    expect(new Set(called)).toEqual(new Set(["maintain", "afterTurn", "compact"]));
  });

  it("prefers ingestBatch to ingest when there is no afterTurn", async () => {
    const { engine, calls, noted } = recorder();
    const { afterTurn: _afterTurn, ...rest } = engine;
    const host = testHost({
      engine: {
        ...rest,
        ingestBatch: ({ messages }) =>
          noted(`batch ${messages.length}`, { ingestedCount: messages.length }),
      },
    });
    await host.say("one");
    expect(calls).toEqual(["assemble 0 prompt=one", "batch 2", "maintain"]);
  });

  it("ingests message by message when there is neither", async () => {
    const { engine, calls } = recorder();
    const { afterTurn: _afterTurn, maintain: _maintain, ...rest } = engine;
    const host = testHost({
      engine: rest,
      replies: [callTool("t"), "done"],
      tools: tools({ t: () => "x" }),
    });
    await host.say("one");
    expect(calls).toEqual([
      "assemble 0 prompt=one",
      "ingest user",
      "ingest assistant",
      "ingest toolResult",
      "ingest assistant",
    ]);
  });

  it("delivers a failed turn before the next one, as a turn of its own, when the engine cannot read the transcript", async () => {
    const { engine, calls } = recorder();
    const { bootstrap: _bootstrap, maintain: _maintain, ...rest } = engine;
    const host = testHost({
      engine: rest,
      replies: [{ error: { kind: "unavailable", message: "down" } }, "back"],
    });
    await host.say("lost?");
    await host.say("again");
    expect(calls).toEqual([
      "assemble 0 prompt=lost?",
      "afterTurn 2 from 0",
      "assemble 2 prompt=again",
      "afterTurn 4 from 2",
    ]);
  });

  it("delivers what a cancelled turn had stored with the next one, when the engine was cut off in the middle", async () => {
    const abort = new AbortController();
    const delivered: string[] = [];
    let cancelled = false;
    const engine: ContextEngine = {
      ...passThrough(),
      info: { id: "owner", name: "Owner", ownsCompaction: true },
      afterTurn: ({ messages, prePromptMessageCount }) =>
        void delivered.push(...messages.slice(prePromptMessageCount).map(({ role }) => role)),
      assemble: ({ messages, prompt }) => {
        if (prompt === undefined && !cancelled) {
          cancelled = true;
          abort.abort();
          return new Promise(() => {});
        }
        return { messages, estimatedTokens: 0 };
      },
    };
    const host = testHost({
      engine,
      replies: [callTool("t"), "done"],
      tools: tools({ t: () => "x" }),
    });
    expect((await host.say("one", { signal: abort.signal })).outcome).toBe("aborted");
    await host.say("two");
    expect(delivered.filter((role) => role === "user")).toHaveLength(2);
    expect(delivered).toHaveLength(host.ports.transcript.branch().length);
  });

  it("an owning engine gets what is new and assembles again before every further call of the turn", async () => {
    const { engine, calls } = recorder({
      info: { id: "owner", name: "Owner", ownsCompaction: true },
    });
    const { maintain: _maintain, ...rest } = engine;
    const host = testHost({
      engine: rest,
      replies: [callTool("t"), "done"],
      tools: tools({ t: () => "x" }),
    });
    await host.say("one");
    expect(calls).toEqual([
      "assemble 0 prompt=one",
      "afterTurn 3 from 0",
      "assemble 3 prompt=undefined",
      "afterTurn 4 from 3",
    ]);
  });

  it("a heartbeat is passed on as one, a cron run is not", async () => {
    const seen: unknown[] = [];
    const host = testHost({
      engine: passThrough({
        ingest: ({ isHeartbeat }) => ({ ingested: seen.push(isHeartbeat) > 0 }),
      }),
    });
    await host.say("tick", { kind: "heartbeat" });
    await host.say("job", { kind: "cron" });
    expect(seen).toEqual([true, true, false, false]);
  });

  it("gives engines complete, frozen runtimeSettings and a true runtimeContext", async () => {
    let seen: unknown;
    const host = testHost({
      engine: passThrough({
        info: {
          id: "x",
          name: "X",
          acceptedHostParams: ["sessionKey", "runtimeSettings", "runtimeContext"],
        },
        assemble: (params) => {
          seen = params;
          return { messages: params.messages, estimatedTokens: 0 };
        },
      }),
    });
    await host.say("hi");
    expect(seen).toMatchObject({
      sessionId: "session-1",
      sessionKey: "agent:main:main",
      model: "test/model",
      tokenBudget: expect.any(Number),
      runtimeSettings: {
        schemaVersion: 1,
        runtime: { host: "openclaw", mode: "normal" },
        executionHost: { id: "clew-embedded" },
        contextEngineSelection: { selectedId: "x", source: "configured" },
      },
      runtimeContext: { modelContextWindow: 100_000, transcriptStorage: { kind: "jsonl" } },
    });
    expect(
      Object.isFrozen((seen as { runtimeSettings: { model: object } }).runtimeSettings.model),
    ).toBe(true);
    expect((seen as { runtimeContext: object }).runtimeContext).not.toHaveProperty(
      "rewriteTranscriptEntries",
    );
  });
});

describe("what an engine is told of the provider's cache", () => {
  const reply = (cacheRead: number): AssistantMessage => ({
    role: "assistant",
    content: [{ type: "text", text: "Yes." }],
    stopReason: "stop",
    usage: { input: 5, output: 2, cacheRead, cacheWrite: 7, totalTokens: 14 + cacheRead },
  });
  const model = {
    provider: "anthropic",
    api: "anthropic-messages",
    id: "claude-opus-4-6",
    contextWindow: 100_000,
    maxOutputTokens: 4096,
  };

  it("is how long it is kept, what was read, and what broke it", async () => {
    const told: (PromptCacheInfo | undefined)[] = [];
    const host = testHost({
      engine: passThrough({
        info: { id: "x", name: "X", acceptedHostParams: ["runtimeContext"] },
        assemble: ({ messages, runtimeContext }) => {
          told.push(runtimeContext?.promptCache);
          return { messages, estimatedTokens: 0 };
        },
      }),
      replies: [reply(0), reply(40), reply(0)],
    });
    const ask = { cache: { retention: "long" as const } };
    await host.say("one", { model, ask });
    await host.say("two", { model, ask });
    await host.say("three", { model: { ...model, id: "claude-opus-4-5" }, ask });
    await host.say("four", { model, ask });
    const [before, first, second, third] = told;
    expect(before).toBeUndefined();
    expect(first).toMatchObject({
      retention: "long",
      lastCallUsage: { input: 5, output: 2, cacheRead: 0, cacheWrite: 7, total: 14 },
      observation: { broke: false, cacheRead: 0 },
    });
    expect(first!.expiresAt! - first!.lastCacheTouchAt!).toBe(3_600_000);
    expect(second!.observation).toMatchObject({ previousCacheRead: 0, cacheRead: 40 });
    expect(third!.observation).toMatchObject({
      ...{ broke: true, previousCacheRead: 40, cacheRead: 0 },
      changes: [{ code: "model", detail: expect.any(String) }],
    });
  });
});

describe("a failing engine", () => {
  it("is replaced in the same call, loudly, and stays aside until it registers again", async () => {
    const host = testHost({
      engine: passThrough({
        info: { id: "broken", name: "Broken" },
        assemble: () => {
          throw new Error("the index is broken");
        },
      }),
      replies: ["still here"],
    });
    const result = await host.say("hi");
    expect(result.outcome).toBe("completed");
    expect(result.report.engine).toMatchObject({
      configured: "test",
      degraded: { operation: "assemble", reason: "the index is broken" },
    });
    expect(host.log.lines.filter((line) => line.startsWith("error"))).toEqual([
      'error [context-engine] Context engine "test" owner=plugin:test failed during assemble: the index is broken; setting it aside for session agent:main:main and falling back to default engine "legacy".',
    ]);
    expect((await host.say("again")).report.engine).toMatchObject({
      ran: "legacy",
      configured: "test",
      degraded: { operation: "assemble" },
    });
    host.registry.register({
      engineId: "test",
      owner: "plugin:test",
      factory: () => passThrough({ info: { id: "mended", name: "Mended" } }),
      allowSameOwnerRefresh: true,
    });
    expect((await host.say("and now")).report.engine).toMatchObject({
      ran: "test",
      infoId: "mended",
      degraded: null,
    });
  });

  it("whose store is only busy answers again in the next turn, by itself", async () => {
    let isBusy = true;
    const host = testHost({
      engine: passThrough({
        assemble: ({ messages }) => {
          if (isBusy) throw new Error("database is locked");
          return { messages, estimatedTokens: 0 };
        },
      }),
    });
    expect((await host.say("hi")).report.engine).toMatchObject({
      configured: "test",
      degraded: { operation: "assemble", reason: "database is locked" },
    });
    expect(host.registry.quarantine.list()).toEqual([]);
    isBusy = false;
    expect((await host.say("again")).report.engine).toMatchObject({ ran: "test", degraded: null });
  });

  it("whose disk is full is asked once in each turn, and says when it answers again", async () => {
    let [isFull, asked] = [true, 0];
    const host = testHost({
      engine: passThrough({
        assemble: ({ messages }) => {
          asked++;
          if (isFull) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
          return { messages, estimatedTokens: 0 };
        },
      }),
    });
    for (const turn of [1, 2]) {
      const { report } = await host.say("hi");
      expect(report.engine.degraded).toMatchObject({ reason: "no space" });
      expect(asked).toBe(turn);
    }
    isFull = false;
    expect((await host.say("again")).report.engine).toMatchObject({ ran: "test", degraded: null });
    expect((await host.say("and again")).report.engine).toMatchObject({ ran: "test" });
    expect(host.log.lines.filter((line) => line.includes("answers again"))).toEqual([
      'info [context-engine] Context engine "test" answers again: assemble works.',
    ]);
  });

  it("that hangs is given up at its bound", async () => {
    const host = testHost({
      engine: passThrough({
        info: { id: "slow", name: "Slow" },
        assemble: () => new Promise(() => {}),
      }),
      registry: { bounds: () => ({ assemble: 20 }) },
    });
    const result = await host.say("hi");
    expect(result.outcome).toBe("completed");
    expect(result.report.engineCalls).toMatchObject([
      { method: "assemble", outcome: "timeout" },
      { method: "assemble", outcome: "fallback" },
    ]);
    expect(result.report.engine.degraded?.code).toBe("ENGINE_TIMEOUT");
  });

  it("that returns the wrong shape is treated like one that throws", async () => {
    const host = testHost({
      engine: passThrough({
        info: { id: "odd", name: "Odd" },
        assemble: (() => ({ text: "no" })) as never,
      }),
    });
    const result = await host.say("hi");
    expect(result.report.engine.degraded?.reason).toContain(
      'expected an object with a "messages" array (got an object with text)',
    );
  });

  it("is tried again next turn under that policy, and fails the run under strict", async () => {
    let failures = 1;
    const engine = passThrough({
      info: { id: "flaky", name: "Flaky" },
      assemble: ({ messages }) => {
        if (failures-- > 0) throw new Error("hiccup");
        return { messages, estimatedTokens: 0 };
      },
    });
    const retrying = testHost({ engine, registry: { failurePolicy: () => "retry-next-turn" } });
    expect((await retrying.say("one")).report.engine.degraded).toEqual({
      operation: "assemble",
      code: "ENGINE_OPERATION_FAILED",
      reason: "hiccup",
    });
    expect((await retrying.say("two")).report.engine.degraded).toBeNull();
    failures = 1;
    const strict = testHost({ engine, registry: { failurePolicy: () => "strict" } });
    expect(await strict.say("one")).toMatchObject({
      outcome: "failed",
      error: {
        kind: "engine",
        code: "ENGINE_OPERATION_FAILED",
        message: 'context engine "test" assemble failed: hiccup',
      },
    });
  });

  it("that was never registered leaves legacy answering, with the reason", async () => {
    const host = testHost({ plugins: { slots: { contextEngine: "ghost" } } });
    expect((await host.say("hi")).report.engine).toMatchObject({
      configured: "ghost",
      ran: "legacy",
      degraded: { operation: "resolve", reason: "not registered" },
    });
  });

  it("with private fields keeps its own `this`", async () => {
    class Counter {
      readonly info = { id: "counter", name: "Counter" };
      #ingested = 0;
      ingest() {
        this.#ingested++;
        return { ingested: true };
      }
      assemble({ messages }: { messages: never[] }) {
        return { messages, estimatedTokens: this.#ingested };
      }
      compact() {
        return { ok: true, compacted: false };
      }
    }
    const host = testHost({ engine: new Counter() as unknown as ContextEngine });
    await host.say("one");
    expect((await host.say("two")).report.budget?.engineEstimate).toBe(2);
  });
});
