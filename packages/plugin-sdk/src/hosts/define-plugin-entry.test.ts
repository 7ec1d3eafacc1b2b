import { describe, expect, it, vi } from "vitest";
import type { ContextEngine, ContextEngineFactory } from "../contract/engine.ts";
import type { PluginApi } from "../contract/plugin.ts";
import { delegateCompactionToRuntime, isRuntimeCompactionDelegate } from "../delegate.ts";
import { user } from "../testing/messages.ts";
import { definePluginEntry } from "./define-plugin-entry.ts";

/** What a plugin registered in a host that says this of itself. */
async function registerIn(runtime: PluginApi["runtime"], engine: Partial<ContextEngine>) {
  const registered: ContextEngineFactory[] = [];
  const warn = vi.fn();
  const api = {
    ...{ id: "x", runtime, logger: { info: warn, warn, error: warn } },
    registerContextEngine: (_id: string, factory: ContextEngineFactory) =>
      void registered.push(factory),
    registerTool: vi.fn(),
  } as unknown as PluginApi;
  const own: ContextEngine = {
    info: { id: "x", name: "X" },
    ingest: () => ({ ingested: false }),
    assemble: ({ messages }) => ({ messages, estimatedTokens: 0 }),
    compact: delegateCompactionToRuntime,
    ...engine,
  };
  const entry = definePluginEntry({
    ...{ id: "x", name: "X" },
    register(given) {
      given.registerContextEngine("x", () => own);
      given.registerTool({} as never);
    },
  });
  entry.register(api);
  expect(api.registerTool).toHaveBeenCalledOnce();
  return { own, made: await registered[0]!({}), warn };
}

/** One accepted turn. */
const turn = (key: string) =>
  ({ sessionId: "s", advancementKey: key, messages: [user("hi")] }) as never;

const CLEW = { clew: { version: "1.0.0" } };

describe("definePluginEntry", () => {
  it("keeps everything else that an entry says of itself", () => {
    const entry = { id: "x", name: "X", kind: "context-engine", configSchema: {}, register() {} };
    expect(definePluginEntry(entry)).toEqual({ ...entry, register: expect.any(Function) });
  });

  it("changes nothing in Clew", async () => {
    const { own, made } = await registerIn(CLEW, {});
    expect(made).toBe(own);
  });

  it("gives an engine that keeps nothing the durable lifecycle in other hosts", async () => {
    const { made } = await registerIn({}, {});
    expect(made.info.transcriptSemantics).toEqual({
      currentTurnFence: "before-current-turn-entry-v1",
      turnAdvancementIdempotency: "atomic-idempotent-v1",
    });
    expect(await made.commitTurn!(turn("a"))).toEqual({ status: "committed" });
  });

  it("leaves an engine its own commitTurn, and says for it that turns may come by it", async () => {
    const commitTurn = vi.fn(() => ({ status: "duplicate" as const }));
    const { made } = await registerIn({}, { commitTurn });
    expect(made.info.transcriptSemantics).toBeDefined();
    expect(await made.commitTurn!(turn("b"))).toEqual({ status: "duplicate" });
    expect(commitTurn).toHaveBeenCalledOnce();
  });

  it("says which engine cannot be used, and lets it shorten nothing", async () => {
    const compact = vi.fn();
    const { made, warn } = await registerIn({}, { compact, afterTurn: () => {} });
    expect(warn).toHaveBeenCalledWith(expect.stringContaining("has no commitTurn"));
    expect(made.info.transcriptSemantics).toBeUndefined();
    await made.compact({ sessionId: "s" });
    expect(compact).not.toHaveBeenCalled();
  });

  it("hands the host its own compaction as the function by which it knows it", async () => {
    const { made } = await registerIn({}, {});
    expect(made.compact).toBe(delegateCompactionToRuntime);
    expect(isRuntimeCompactionDelegate(made.compact)).toBe(true);
  });

  it("refuses a turn, by a sentence, that an engine stored without its key", async () => {
    const { made } = await registerIn({}, { ingest: () => ({ ingested: true }) });
    await expect(made.commitTurn!(turn("c"))).rejects.toThrow("has no commitTurn");
  });
});
