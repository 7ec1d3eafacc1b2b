import type {
  AgentMessage,
  CompactParams,
  ContextEngine,
  MaintainParams,
  RuntimeContext,
} from "@clew/plugin-sdk/core";
import { delegateCompactionToRuntime } from "@clew/plugin-sdk/core";
import { sleep } from "@clew/plugin-sdk/host";
import { user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { memoryLog, passThrough } from "../__fixtures__/host.ts";
import type { EngineCallReport } from "../report/engine-call.ts";
import type { CallScope, FailurePolicy } from "./call-scope.ts";
import type { QuarantineRecord } from "./quarantine.ts";
import { createEngineRegistry, type RegistryOptions } from "./registry.ts";

const clock = { now: () => 7, monotonic: () => performance.now() };
const info = { id: "own", name: "Own" };
const session = { sessionId: "s1", sessionKey: "main", sessionFile: "/s1.jsonl" };

/** One scope of calls on `engine`, and what is told of them. */
async function enter(
  engine: Partial<ContextEngine>,
  {
    policy = "quarantine",
    bounds = {},
    ...scope
  }: CallScope & {
    policy?: FailurePolicy;
    bounds?: ReturnType<NonNullable<RegistryOptions["bounds"]>>;
  } = {},
) {
  const log = memoryLog();
  const calls: EngineCallReport[] = [];
  const notices: QuarantineRecord[] = [];
  const told: QuarantineRecord[] = [];
  const registry = createEngineRegistry({
    ...{ log, clock, bounds: () => bounds, failurePolicy: () => policy },
    fallback: () => passThrough({ compact: delegateCompactionToRuntime }),
    onSetAside: (record) => void told.push(record),
  });
  registry.register({
    engineId: "test",
    owner: "plugin:test",
    factory: () => passThrough({ info, ...engine }),
  });
  const guard = await registry.instance("test", {});
  const entered = guard.enter({
    sessionKey: "main",
    record: (call) => void calls.push(call),
    onSetAside: (record) => void notices.push(record),
    ...scope,
  });
  return { registry, guard, entered, log, calls, notices, told };
}

const bag = (context: object): { runtimeContext: RuntimeContext } => ({
  runtimeContext: context as RuntimeContext,
});

describe("what a call is lent ends with the call", () => {
  /** Keeps what `maintain` is given, and does `work` with it. */
  const keeper = (work: (params: MaintainParams) => Promise<void> | void = () => {}) => {
    const kept: MaintainParams[] = [];
    const engine: Partial<ContextEngine> = {
      maintain: async (params) => {
        kept.push(params);
        await work(params);
        return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
      },
    };
    return { kept, engine };
  };
  const rewrite = { replacements: [{ entryId: "e1", message: user("shorter") }] };
  const lent = () => {
    const done: string[] = [];
    const context = bag({
      rewriteTranscriptEntries: async () => void done.push("rewritten"),
      llm: { complete: async () => void done.push("asked") },
      reset: () => void done.push("reset"),
      cwd: "/work",
    });
    return { done, params: { ...session, ...context } };
  };
  const useAll = async ({ runtimeContext }: MaintainParams) => {
    await runtimeContext?.rewriteTranscriptEntries?.(rewrite);
    await runtimeContext?.llm?.complete({ messages: [] });
    (runtimeContext as { reset: () => void }).reset();
  };

  it("works while the call runs", async () => {
    const { engine } = keeper(useAll);
    const { done, params } = lent();
    await (await enter(engine)).entered.maintain?.(params);
    expect(done).toEqual(["rewritten", "asked", "reset"]);
  });

  it("throws one sentence when the call has answered, and does nothing", async () => {
    const { kept, engine } = keeper();
    const { done, params } = lent();
    await (await enter(engine)).entered.maintain?.(params);
    const { runtimeContext } = kept[0]!;
    await expect(runtimeContext?.rewriteTranscriptEntries?.(rewrite)).rejects.toThrow(
      "runtimeContext.rewriteTranscriptEntries was lent to a call of maintain() that is over; nothing was done.",
    );
    await expect(runtimeContext?.llm?.complete({ messages: [] })).rejects.toThrow("is over");
    expect(() => (runtimeContext as { reset: () => void }).reset()).toThrow("is over");
    expect(runtimeContext?.cwd).toBe("/work");
    expect(done).toEqual([]);
  });

  it("throws when the call ran over its bound and goes on", async () => {
    let late: Promise<unknown> = Promise.resolve();
    const { engine } = keeper((params) => {
      late = sleep(60).then(() => useAll(params));
      return late as Promise<void>;
    });
    const { done, params } = lent();
    const { entered, notices } = await enter(engine, { bounds: { maintain: 20 } });
    await expect(entered.maintain?.(params)).resolves.toMatchObject({ changed: false });
    expect(notices).toMatchObject([{ operation: "maintain", code: "ENGINE_TIMEOUT" }]);
    await expect(late).rejects.toThrow("is over");
    expect(done).toEqual([]);
  });

  it("throws when the engine is set aside while it runs", async () => {
    const { done, params } = lent();
    const { engine } = keeper(async (given) => {
      entered.setAside({ operation: "commitTurn", reason: "behind" });
      await useAll(given);
    });
    const { entered } = await enter(engine);
    await entered.maintain?.(params);
    expect(done).toEqual([]);
  });

  it("ends model calls that are still running", async () => {
    let signal: AbortSignal | undefined;
    const { engine } = keeper(({ runtimeContext }) => {
      void runtimeContext?.llm?.complete({ messages: [] });
    });
    const complete = async (ask: { signal?: AbortSignal }) => {
      signal = ask.signal;
    };
    const { entered } = await enter(engine);
    await entered.maintain?.({ ...session, ...bag({ llm: { complete } }) });
    expect(signal?.aborted).toBe(true);
  });

  it("includes the host's built-in compaction", async () => {
    let later: (() => Promise<unknown>) | undefined;
    const engine: Partial<ContextEngine> = {
      compact: (params) => {
        later = () => delegateCompactionToRuntime(params);
        return later() as ReturnType<typeof delegateCompactionToRuntime>;
      },
    };
    let compacted = 0;
    const compaction = async () => ({ ok: true, compacted: ++compacted > 0 });
    const { entered } = await enter(engine, { compaction });
    await expect(entered.compact(session)).resolves.toMatchObject({ compacted: true });
    // In the call's own asynchronous context, as work it left behind would be.
    await expect(later?.()).resolves.toMatchObject({ code: "no-built-in" });
    expect(compacted).toBe(1);
  });

  it("a rewrite is checked like a stored message before it reaches the transcript", async () => {
    const { engine } = keeper(async ({ runtimeContext }) => {
      const message = { role: "banana" } as unknown as AgentMessage;
      await runtimeContext?.rewriteTranscriptEntries?.({
        replacements: [{ entryId: "e1", message }],
      });
    });
    const { done, params } = lent();
    const { entered, notices } = await enter(engine);
    await entered.maintain?.(params);
    expect(done).toEqual([]);
    expect(notices[0]?.reason).toContain('replacements[0].message.role is "banana"');
  });
});

describe("the signal of a call", () => {
  const waiting = () => {
    const seen: CompactParams[] = [];
    const compact = (params: CompactParams) => {
      seen.push(params);
      return new Promise<never>(() => {});
    };
    return { seen, compact };
  };

  it("fires at the bound, though nobody cancelled the run", async () => {
    const { seen, compact } = waiting();
    const { entered } = await enter({ compact }, { bounds: { compact: 20 } });
    const { signal } = new AbortController();
    await expect(entered.compact({ ...session, abortSignal: signal })).rejects.toThrow(
      "did not finish compact within 0.02 s",
    );
    expect(seen[0]?.abortSignal?.aborted).toBe(true);
    expect(seen[0]?.abortSignal?.reason).toMatchObject({ code: "ENGINE_TIMEOUT" });
  });

  it("fires with the run's, and with the one the host names for the call", async () => {
    for (const mine of ["run", "call"]) {
      const { seen, compact } = waiting();
      const abort = new AbortController();
      const { entered, notices } = await enter(
        { compact },
        mine === "run" ? { signal: abort.signal } : {},
      );
      const running = entered.compact({
        ...session,
        ...(mine === "call" && { abortSignal: abort.signal }),
      });
      await sleep(1);
      abort.abort();
      await expect(running).rejects.toThrow("aborted");
      expect(seen[0]?.abortSignal?.aborted).toBe(true);
      expect(notices).toEqual([]);
    }
  });
});

describe("a failure", () => {
  const failing = (errors: unknown[]) => {
    let calls = 0;
    const afterTurn = () => {
      const error = errors[calls++];
      if (error !== undefined) throw error;
    };
    return { afterTurn, calls: () => calls };
  };
  const busy = () => Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });
  const turn = { ...session, messages: [], prePromptMessageCount: 0 };

  it("that passes by itself is answered by asking once more", async () => {
    const engine = failing([busy()]);
    const { entered, calls, notices, log } = await enter(engine);
    await entered.afterTurn?.(turn);
    expect(engine.calls()).toBe(2);
    expect(calls.map(({ outcome }) => outcome)).toEqual(["failed", "ok"]);
    expect(notices).toEqual([]);
    expect(log.lines).toEqual([
      'warn engine "test": afterTurn failed: database is locked; asked again',
    ]);
  });

  it("that does not pass the second time sets the engine aside", async () => {
    const engine = failing([busy(), busy()]);
    const { entered, notices } = await enter(engine);
    await entered.afterTurn?.(turn);
    expect(engine.calls()).toBe(2);
    expect(notices).toMatchObject([{ operation: "afterTurn" }]);
  });

  it("of the engine's own is not asked for twice", async () => {
    const engine = failing([new Error("a bug")]);
    const { entered } = await enter(engine);
    await entered.afterTurn?.(turn);
    expect(engine.calls()).toBe(1);
  });

  it("is told at the moment it happens, to the run and to the host", async () => {
    const { entered, notices, told } = await enter(failing([new Error("a bug")]));
    await entered.afterTurn?.(turn);
    const record = {
      engineId: "test",
      owner: "plugin:test",
      operation: "afterTurn",
      reason: "a bug",
      code: "ENGINE_OPERATION_FAILED",
      scope: { kind: "session", sessionKey: "main" },
      failedAt: 7,
    };
    expect([notices, told]).toEqual([[record], [record]]);
    await entered.assemble({ ...session, messages: [] });
    expect(notices).toHaveLength(1);
  });

  it("until the next turn is told as that", async () => {
    const engine = failing([new Error("a bug")]);
    const { entered, notices, told, registry } = await enter(engine, {
      policy: "retry-next-turn",
    });
    await entered.afterTurn?.(turn);
    expect([notices[0]?.scope, told[0]?.scope]).toEqual([{ kind: "turn" }, { kind: "turn" }]);
    expect(registry.quarantine.list()).toEqual([]);
    expect(entered.degraded).toMatchObject({ reason: "a bug" });
  });

  it("of any method is thrown to a strict host", async () => {
    const broken = () => {
      throw new Error("broken");
    };
    const methods = {
      ...{ bootstrap: broken, maintain: broken, ingest: broken, ingestBatch: broken },
      ...{ afterTurn: broken, commitTurn: broken, assemble: broken, compact: broken },
      ...{ prepareSubagentSpawn: broken, onSubagentEnded: broken },
    };
    const { entered, registry } = await enter(methods, { policy: "strict" });
    const call = entered as unknown as Record<string, (params: object) => Promise<unknown>>;
    for (const method of Object.keys(methods))
      await expect(call[method]!({ ...turn }), method).rejects.toThrow("broken");
    expect(entered.degraded).toBeNull();
    expect(registry.quarantine.list()).toEqual([]);
  });

  it("of info is thrown to a strict host by every method", async () => {
    let isLater = false;
    const registry = createEngineRegistry({
      ...{ log: memoryLog(), clock, fallback: () => passThrough() },
      failurePolicy: () => "strict",
    });
    registry.register({
      ...{ engineId: "test", owner: "plugin:test" },
      factory: () =>
        Object.defineProperty(passThrough(), "info", { get: () => (isLater ? null : info) }),
    });
    const strict = await registry.instance("test", {});
    isLater = true;
    const entered = strict.enter({});
    expect(entered.info).toEqual(info);
    await expect(entered.assemble({ ...session, messages: [] })).rejects.toThrow("missing info");
  });
});

describe("the fallback", () => {
  it("has the host's built-in compaction in the very call in which it takes over", async () => {
    const compaction = async () => ({ ok: true, compacted: true });
    const { entered } = await enter(
      {
        assemble: () => {
          throw new Error("broken");
        },
      },
      { compaction },
    );
    await entered.assemble({ ...session, messages: [] });
    await expect(entered.compact(session)).resolves.toMatchObject({ compacted: true });
  });

  it("says who it is from then on", async () => {
    const { entered } = await enter({
      assemble: () => {
        throw new Error("broken");
      },
    });
    expect(entered.info.id).toBe("own");
    await entered.assemble({ ...session, messages: [] });
    expect(entered.info.id).toBe("legacy");
  });
});

describe("a guarded engine", () => {
  it("has the contract's methods that the engine has, and nothing else of it", async () => {
    const { entered, guard } = await enter({
      afterTurn: () => {},
      bootstrap: undefined as never,
      ...{ control: () => "status", secret: "x" },
    });
    expect(Object.keys(entered).sort()).toEqual([
      "afterTurn",
      "assemble",
      "compact",
      "degraded",
      "info",
      "ingest",
      "readmit",
      "release",
      "reportFailure",
      "setAside",
    ]);
    expect(guard.extension("control")?.()).toBe("status");
    expect(guard.extension("secret")).toBeUndefined();
  });
});
