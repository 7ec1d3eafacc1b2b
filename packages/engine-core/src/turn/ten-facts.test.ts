// The facts of the contract most often got wrong, and users' complaints about hosts.
import {
  type AgentMessage,
  type ContextEngine,
  delegateCompactionToRuntime,
} from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { callTool, memoryTranscript, passThrough, testHost, tools } from "../__fixtures__/host.ts";
import { createSessionState, resolveContextEngine } from "../index.ts";

const named = (overrides: Partial<ContextEngine> & { id?: string } = {}) => {
  const { id = "other-name", ...methods } = overrides;
  return passThrough({ info: { id, name: "Engine" }, ...methods });
};
const overflow: { error: ModelError } = { error: { kind: "overflow", message: "too long" } };

describe("ten facts", () => {
  it("1: the slot holds the registered id; the engine's own id may differ", async () => {
    const { report } = await testHost({ engine: named() }).say("hi");
    expect(report.engine).toMatchObject({
      configured: "test",
      ran: "test",
      infoId: "other-name",
      degraded: null,
    });
  });

  it("2: an engine that does not own compaction is still the only way to compact", async () => {
    let asked = 0;
    const engine = named({
      compact: () => {
        asked++;
        return { ok: true, compacted: false };
      },
    });
    await testHost({ engine, replies: [overflow] }).say("hi");
    expect(asked).toBe(1);
  });

  it("3: with afterTurn neither ingest nor ingestBatch is called, and a checkpoint in the loop replaces the prompt's position", async () => {
    const calls: string[] = [];
    const engine = named({
      ingest: () => ({ ingested: calls.push("ingest") > 0 }),
      ingestBatch: () => ({ ingestedCount: calls.push("ingestBatch") }),
      afterTurn: ({ messages, prePromptMessageCount }) =>
        void calls.push(...messages.slice(prePromptMessageCount).map((message) => message.role)),
    });
    const owner = { ...engine, info: { id: "owner", name: "Owner", ownsCompaction: true } };
    await testHost({
      engine: owner,
      replies: [callTool("t"), "done"],
      tools: tools({ t: () => "x" }),
    }).say("hi");
    // Each message once, whether it came from the loop or from the end of the turn.
    expect(calls).toEqual(["user", "assistant", "toolResult", "assistant"]);
  });

  it("4: assemble does not get the running prompt, its result is pairing-repaired, and its failure keeps the history", async () => {
    const repaired: number[] = [];
    const seen: string[] = [];
    const engine = named({
      assemble: ({ messages }) => {
        seen.push(...messages.map((message) => message.role));
        throw new Error("no");
      },
    });
    const policy = {
      sanitizeHistory: async ({ messages }: { messages: readonly AgentMessage[] }) => ({
        messages,
        changes: [],
        sideRecords: [],
      }),
      repairPairing: ({ messages }: { messages: readonly AgentMessage[] }) => ({
        messages,
        changes: repaired.push(messages.length) > 0 ? [] : [],
      }),
      prepareOutbound: ({ messages }: { messages: readonly AgentMessage[] }) => ({
        messages,
        changes: [],
      }),
    };
    const host = testHost({ engine, replies: ["one"], ports: { policy } });
    await host.say("hi");
    expect(seen).toEqual([]);
    // Once after limiting the history, once on what came back from assembly.
    expect(repaired).toEqual([0, 0]);
    expect(host.lastSeen()).toEqual(["user: hi"]);
  });

  it("5: compact quarantines and fails its call, assemble falls back in its call, the first failure stays on record", async () => {
    const engine = named({
      assemble: () => {
        throw new Error("first");
      },
      compact: () => {
        throw new Error("second");
      },
    });
    const host = testHost({ engine, replies: [overflow] });
    await host.say("hi");
    expect(host.registry.quarantine.list()).toMatchObject([
      { engineId: "test", operation: "assemble", reason: "first" },
    ]);
  });

  it("6: bootstrap comes before each run, and only when there is a transcript", async () => {
    const bootstraps: number[] = [];
    const host = testHost({
      engine: named({
        bootstrap: () => ({
          bootstrapped: bootstraps.push(host.ports.transcript.entries.length) > 0,
        }),
      }),
    });
    await host.say("one");
    await host.say("two");
    await host.say("three");
    expect(bootstraps).toEqual([2, 4]);
  });

  it("7: only maintenance after a turn runs in the background, and only there is deferred work allowed", async () => {
    const allowed: unknown[] = [];
    const engine: ContextEngine = {
      ...named({
        maintain: ({ runtimeContext }) => {
          allowed.push(runtimeContext?.allowDeferredCompactionExecution ?? false);
          return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
        },
      }),
      info: { id: "tidy", name: "Tidy", turnMaintenanceMode: "background" },
    };
    const host = testHost({ engine });
    await host.say("one");
    await host.say("two");
    await host.state.maintenance.active;
    expect(allowed).toEqual([true, false, true]);
  });

  it("9: one engine serves many turns with its own `this`, and works after dispose", async () => {
    class Engine implements ContextEngine {
      readonly info = { id: "singleton", name: "Singleton" };
      #turns = 0;
      ingest() {
        return { ingested: true };
      }
      assemble({ messages }: Parameters<ContextEngine["assemble"]>[0]) {
        return { messages, estimatedTokens: ++this.#turns };
      }
      compact() {
        return { ok: true, compacted: false };
      }
      dispose() {}
    }
    const singleton = new Engine();
    const host = testHost({ engine: () => singleton });
    await host.say("one");
    await host.registry.dispose();
    expect((await host.say("two")).report.budget?.engineEstimate).toBe(2);
  });

  it("10: an engine of the older kind runs on the eager path with a real file name, and keeps every key that is not host-added", async () => {
    let keys: string[] = [];
    const engine: ContextEngine = {
      ...named({
        afterTurn: (params) => {
          keys = Object.keys(params);
        },
      }),
      info: { id: "older", name: "Older", acceptedHostParams: [] },
    };
    const { report } = await testHost({ engine }).say("hi");
    expect(report).toMatchObject({ lifecycle: "eager", engine: { ran: "test", degraded: null } });
    expect(keys.sort()).toEqual([
      "isHeartbeat",
      "messages",
      "prePromptMessageCount",
      "sessionFile",
      "sessionId",
      "tokenBudget",
    ]);
  });
});

describe("complaints about hosts", () => {
  it("an engine that is configured but does not run is never silent", async () => {
    const host = testHost({ plugins: { slots: { contextEngine: "lossless-claw" } } });
    const { report } = await host.say("hi");
    expect(report.engine).toMatchObject({
      configured: "lossless-claw",
      ran: "legacy",
      degraded: { operation: "resolve", reason: "not registered" },
    });
    expect(host.log.lines[0]).toContain('Context engine "lossless-claw"');
  });

  it("an engine that registers after it was found missing is used from then on", async () => {
    const host = testHost({ plugins: { slots: { contextEngine: "late" } } });
    await host.say("one");
    host.registry.register({ engineId: "late", owner: "plugin:late", factory: () => named() });
    expect((await host.say("two")).report.engine).toMatchObject({ ran: "late", degraded: null });
  });

  it("nothing is ingested twice, neither by loop and end of turn nor by a restart", async () => {
    const ingested: AgentMessage[] = [];
    const engine: ContextEngine = {
      ...named({
        afterTurn: ({ messages, prePromptMessageCount }) =>
          void ingested.push(...messages.slice(prePromptMessageCount)),
      }),
      info: { id: "owner", name: "Owner", ownsCompaction: true },
    };
    const transcript = memoryTranscript();
    const options = {
      engine,
      transcript,
      replies: [callTool("t"), "one"],
      tools: tools({ t: () => "x" }),
    };
    await testHost(options).say("a");
    await testHost({ ...options, replies: ["two"], state: createSessionState() }).say("b");
    expect(new Set(ingested).size).toBe(ingested.length);
    expect(ingested.filter((message) => message.role === "user")).toHaveLength(2);
  });

  it("a delegating engine cannot call itself for ever", async () => {
    const engine = named({ compact: delegateCompactionToRuntime });
    const host = testHost({
      engine,
      replies: [overflow],
      ports: {
        compaction: {
          compact: () => delegateCompactionToRuntime({ sessionId: "s", sessionFile: "" }),
        },
      },
    });
    const { report } = await host.say("hi");
    expect(report.compactions).toMatchObject([
      { ok: false, reason: "this host offers no built-in compaction" },
    ]);
  });

  it("slow compaction that shows progress is not cut off; one that shows none is", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const slow = (progress: boolean) => ({
      async compact(_params: unknown, options?: { onProgress?: () => void }) {
        for (let step = 0; step < 5; step++) {
          await new Promise((resolve) => setTimeout(resolve, 15_000));
          if (progress) options?.onProgress?.();
        }
        return { ok: true, compacted: false, reason: "done" };
      },
    });
    const reasonOf = async (progress: boolean) => {
      const host = testHost({
        engine: named({ compact: delegateCompactionToRuntime }),
        replies: [overflow],
        ports: { compaction: slow(progress) },
        registry: { bounds: () => ({ compact: 40_000 }) },
      });
      const turn = host.say("hi");
      await vi.advanceTimersByTimeAsync(5 * 15_000);
      return (await turn).report.compactions[0]?.reason;
    };
    expect(await reasonOf(true)).toBe("done");
    expect(await reasonOf(false)).toContain("did not finish compact");
  });

  it("a switch of engines loses nothing of the history, and takes effect with the next run only", async () => {
    const transcript = memoryTranscript();
    const seen: string[][] = [];
    const engine = named({
      assemble: ({ messages }) => {
        seen.push(
          messages.map((message) =>
            message.role === "user" ? String(message.content) : message.role,
          ),
        );
        return { messages, estimatedTokens: 0 };
      },
    });
    const on = (plugins: { slots?: { contextEngine: string } }) =>
      testHost({ engine, transcript, plugins, replies: ["ok"] });
    await on({}).say("on legacy");
    await on({ slots: { contextEngine: "test" } }).say("on the engine");
    const last = on({});
    await last.say("back on legacy");
    expect(seen).toEqual([["on legacy", "assistant"]]);
    expect(last.lastSeen()).toEqual([
      "user: on legacy",
      "assistant: ok",
      "user: on the engine",
      "assistant: ok",
      "user: back on legacy",
    ]);
  });

  it("doctor and replies agree: what resolution says is what the report says", async () => {
    const host = testHost({
      engine: named({
        assemble: () => {
          throw new Error("broken");
        },
      }),
    });
    await host.say("one");
    const resolved = await resolveContextEngine({
      registry: host.registry,
      config: { plugins: { slots: { contextEngine: "test" } } },
      sessionKey: "agent:main:main",
    });
    expect(resolved.degraded).toEqual((await host.say("two")).report.engine.degraded);
  });
});
