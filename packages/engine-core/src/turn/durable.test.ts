import type { CommitTurnParams, ContextEngine } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callTool, memoryTranscript, passThrough, testHost, tools } from "../__fixtures__/host.ts";
import { createDeliveryLedger, createSessionState } from "../index.ts";
import { findPendingTurns } from "../session/pending-turns.ts";

/** A durable engine that keeps what it committed by key, as `commitTurn` promises. */
function durableEngine(overrides: Partial<ContextEngine> = {}) {
  const commits: CommitTurnParams[] = [];
  const keys = new Set<string>();
  const calls: string[] = [];
  const engine: ContextEngine = {
    info: {
      id: "durable",
      name: "Durable",
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    ingest: () => ({ ingested: !calls.push("ingest") }),
    afterTurn: () => void calls.push("afterTurn"),
    assemble: ({ messages, prompt }) => {
      calls.push(`assemble ${messages.length} ${prompt ?? ""}`);
      return { messages, estimatedTokens: 0 };
    },
    compact: () => ({ ok: true, compacted: false }),
    commitTurn: (params) => {
      if (keys.has(params.advancementKey)) return { status: "duplicate" };
      keys.add(params.advancementKey);
      commits.push(params);
      return { status: "committed" };
    },
    ...overrides,
  };
  return {
    engine,
    commits,
    calls,
    texts: () =>
      commits.map(({ messages }) =>
        messages
          .map((message) => (message.role === "user" ? String(message.content) : message.role))
          .join(" "),
      ),
  };
}

const host = (engine: ContextEngine, options: Parameters<typeof testHost>[0] = {}) =>
  testHost({
    engine,
    transcript: Object.assign(memoryTranscript(), { deliveries: createDeliveryLedger() }),
    ...options,
  });

describe("the durable lifecycle", () => {
  it("asks an owner in the loop for the history only, and adds the turn itself", async () => {
    const { engine, calls } = durableEngine();
    const owner = { ...engine, info: { ...engine.info, ownsCompaction: true } };
    const { say, lastSeen } = host(owner, {
      replies: ["one", callTool("t"), "done"],
      tools: tools({ t: () => "x" }),
    });
    await say("a");
    const { report } = await say("b");
    expect(report.views).toBeUndefined();
    expect(lastSeen()).toEqual([
      ...["user: a", "assistant: one"],
      ...["user: b", "assistant: [toolCall]", "toolResult: x"],
    ]);
    expect(calls.slice(-2)).toEqual(["assemble 2 b", "assemble 2 b"]);
  });

  it("tells the place of an entry in the file from its place among the messages", async () => {
    const { engine, commits } = durableEngine();
    const { say, ports } = host(engine, { replies: ["one", "two"] });
    await say("a");
    await ports.transcript.append([{ type: "custom", customType: "mine", data: 1 }]);
    await say("b");
    expect(commits[1]).toMatchObject({
      admission: { rawSeq: 3, activeMessagePosition: 2 },
      terminal: { rawSeq: 4, activeMessagePosition: 3 },
    });
  });

  it("commits each accepted turn once, and calls neither afterTurn nor ingest", async () => {
    const { engine, calls, texts, commits } = durableEngine();
    const session = host(engine, {
      replies: [callTool("t"), "one", "two"],
      tools: tools({ t: () => "x" }),
    });
    const first = await session.say("a");
    await session.say("b");
    expect(first.report.lifecycle).toBe("durable");
    expect(texts()).toEqual(["a assistant toolResult assistant", "b assistant"]);
    expect(calls.filter((call) => !call.startsWith("assemble"))).toEqual([]);
    expect(commits[0]).toMatchObject({
      advancementKey: commits[0]!.admission.logicalTurnId,
      admission: { role: "user", entryId: "entry-0", activeMessagePosition: 0 },
      terminal: { entryId: "entry-3", activeMessagePosition: 3 },
    });
  });

  it("shows the engine nothing of the running turn before it is committed", async () => {
    const { engine, calls } = durableEngine();
    const session = host(engine, { replies: ["one", "two"] });
    await session.say("a");
    await session.say("b");
    expect(calls).toEqual(["assemble 0 a", "assemble 2 b"]);
  });

  it("commits a failed turn as a turn of its own, before the next one", async () => {
    const { engine, texts } = durableEngine();
    const session = host(engine, {
      replies: [{ error: { kind: "unavailable", message: "down" } }, "back"],
    });
    await session.say("lost?");
    await session.say("again");
    expect(texts()).toEqual(["lost? assistant", "again assistant"]);
  });

  it("commits a turn whose process was killed after the message was stored", async () => {
    const { engine, texts } = durableEngine();
    const transcript = Object.assign(memoryTranscript(), { deliveries: createDeliveryLedger() });
    await host(engine, { transcript }).say("first");
    await transcript.append([
      { type: "message", message: { role: "user", content: "killed here" } },
    ]);
    await testHost({ engine, transcript, state: createSessionState() }).say("after restart");
    expect(texts()).toEqual(["first assistant", "killed here", "after restart assistant"]);
  });

  it("commits the turns another engine answered meanwhile, in order", async () => {
    const { engine, texts } = durableEngine();
    const transcript = Object.assign(memoryTranscript(), { deliveries: createDeliveryLedger() });
    const durable = host(engine, { transcript });
    const legacy = testHost({ transcript, plugins: {} });
    await durable.say("one");
    await legacy.say("two, on legacy");
    await durable.say("three");
    expect(texts()).toEqual(["one assistant", "two, on legacy assistant", "three assistant"]);
  });

  it("leaves older history to bootstrap when the engine can bootstrap", async () => {
    const { engine, texts } = durableEngine({ bootstrap: () => ({ bootstrapped: true }) });
    const transcript = Object.assign(memoryTranscript(), { deliveries: createDeliveryLedger() });
    await testHost({ transcript, plugins: {} }).say("before the engine");
    await host(engine, { transcript }).say("with the engine");
    expect(texts()).toEqual(["with the engine assistant"]);
  });

  it("keeps a turn whose commit failed, answers the next with the fallback, and says why", async () => {
    let broken = true;
    const { engine, texts, commits } = durableEngine({
      commitTurn: (params) => {
        if (broken) throw new Error("disk full");
        commits.push(params);
        return { status: "committed" };
      },
    });
    const session = host(engine, { registry: { failurePolicy: () => "retry-next-turn" } });
    await session.say("one");
    const second = await session.say("two");
    expect(second.report.engine.degraded).toEqual({
      operation: "commitTurn",
      code: "ENGINE_OPERATION_FAILED",
      reason: "disk full",
    });
    expect(session.log.lines.some((line) => line.includes("commitTurn failed: disk full"))).toBe(
      true,
    );
    broken = false;
    await session.say("three");
    expect(texts()).toEqual(["one assistant", "two assistant", "three assistant"]);
  });

  it("is not used, and nothing is degraded, for an engine that declares nothing", async () => {
    const { engine } = durableEngine();
    const session = host({ ...engine, info: { id: "plain", name: "Plain" } });
    const { report } = await session.say("hi");
    expect(report).toMatchObject({ lifecycle: "eager", engine: { degraded: null } });
    expect(report.engineCalls.map((call) => call.method)).toEqual(["assemble", "afterTurn"]);
  });

  it("in the tool loop an owner assembles the history before the turn within what is left", async () => {
    const budgets: (number | undefined)[] = [];
    const { engine } = durableEngine({
      assemble: ({ messages, tokenBudget }) => {
        budgets.push(tokenBudget);
        return { messages, estimatedTokens: 0 };
      },
    });
    const owner = { ...engine, info: { ...engine.info, ownsCompaction: true } };
    await host(owner, {
      replies: [callTool("t"), "done"],
      tools: tools({ t: () => "x".repeat(4_000) }),
    }).say("hi");
    expect(budgets[1]).toBeLessThan(budgets[0]!);
  });
});

describe("findPendingTurns", () => {
  it("covers every message that was not acknowledged exactly once, in order, whatever the branch holds", () => {
    const kinds = fc.array(fc.constantFrom("user", "assistant", "custom", "note"), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(kinds, fc.nat(30), (given, cut) => {
        const branch = given.map((kind, index): TranscriptEntry => {
          const base = {
            id: `e${index}`,
            parentId: index === 0 ? null : `e${index - 1}`,
            timestamp: "",
          };
          if (kind === "custom") return { ...base, type: "custom", customType: "x" };
          if (kind === "note")
            return { ...base, type: "custom_message", customType: "x", content: "" };
          if (kind === "user")
            return { ...base, type: "message", message: { role: "user", content: "" } };
          return {
            ...base,
            type: "message",
            message: { role: "assistant", content: [], stopReason: "stop" },
          };
        });
        // A note waits for what is said after it.
        const said = branch.slice(0, branch.findLastIndex(({ type }) => type === "message") + 1);
        const ids = said.filter(({ type }) => type !== "custom").map(({ id }) => id);
        const acknowledged = new Set(ids.slice(0, cut));
        const record = { root: "s", acknowledged, refused: new Map() };
        const { turns, scan } = findPendingTurns(branch, record, null);
        expect(turns.flatMap(({ fresh }) => [...fresh])).toEqual(ids.slice(cut));
        expect(new Set(turns.map(({ id }) => id)).size).toBe(turns.length);
        expect(findPendingTurns(branch, record, null, scan).turns).toEqual(turns);
      }),
    );
  });
});

describe("maintenance", () => {
  it("in the background runs behind the reply, once at a time, with deferred work allowed; the next turn waits for it", async () => {
    const seen: unknown[] = [];
    let finish = () => {};
    let running = 0;
    const engine = passThrough({
      info: { id: "tidy", name: "Tidy", turnMaintenanceMode: "background" },
      maintain: async ({ runtimeContext }) => {
        if (!runtimeContext?.allowDeferredCompactionExecution)
          return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
        expect(++running).toBe(1);
        seen.push(runtimeContext?.allowDeferredCompactionExecution);
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        running--;
        return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
      },
    });
    const session = testHost({ engine });
    await session.say("one");
    expect(seen).toEqual([true]);
    const second = session.say("two", { settings: { maintenanceWaitMs: 5_000 } });
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(session.ports.model.calls).toHaveLength(1);
    finish();
    await second;
    expect(session.ports.model.calls).toHaveLength(2);
    finish();
  });

  it("that outlasts its bound is cancelled, and the turn goes on; nothing is quarantined", async () => {
    let aborted = false;
    const engine = passThrough({
      info: { id: "slow", name: "Slow", turnMaintenanceMode: "background" },
      maintain: ({ abortSignal, runtimeContext }) =>
        new Promise((resolve, reject) => {
          if (!runtimeContext?.allowDeferredCompactionExecution)
            resolve({ changed: false, bytesFreed: 0, rewrittenEntries: 0 });
          abortSignal?.addEventListener("abort", () => {
            aborted = true;
            reject(abortSignal.reason);
          });
        }),
    });
    const session = testHost({ engine });
    await session.say("one");
    const result = await session.say("two", { settings: { maintenanceWaitMs: 20 } });
    expect(result.outcome).toBe("completed");
    expect(aborted).toBe(true);
    expect(session.registry.quarantine.list()).toEqual([]);
  });
});
