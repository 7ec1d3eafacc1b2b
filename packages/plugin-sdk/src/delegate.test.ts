import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { CompactParams } from "./contract/lifecycle.ts";
import {
  delegateCompactionToRuntime,
  isRuntimeCompactionDelegate,
  provideRuntimeCompaction,
  type RuntimeCompaction,
  runtimeCompactionSlot,
} from "./delegate.ts";

const slot = new AsyncLocalStorage<RuntimeCompaction>();
provideRuntimeCompaction(slot);
afterEach(() => provideRuntimeCompaction(slot));

const params = (more: Partial<CompactParams> = {}): CompactParams => ({
  sessionId: "s",
  sessionFile: "/s.jsonl",
  ...more,
});
/** A host compaction that answers with the parameters it was given. */
const echo: RuntimeCompaction = async (given) => ({
  ok: true,
  compacted: true,
  result: { tokensBefore: 1, details: given },
});
const seen = async (given: CompactParams) =>
  (await slot.run(echo, () => delegateCompactionToRuntime(given))).result?.details;

describe("delegateCompactionToRuntime", () => {
  it("says honestly that a host has no compaction", async () => {
    expect(await delegateCompactionToRuntime(params())).toEqual({
      ok: false,
      compacted: false,
      code: "no-built-in",
      reason: "this host offers no built-in compaction",
    });
  });

  it("reaches the host through its slot, across awaits, without any parameter", async () => {
    const result = await slot.run(echo, async () => {
      await Promise.resolve();
      return delegateCompactionToRuntime(params());
    });
    expect(result).toMatchObject({ ok: true, compacted: true });
    expect(runtimeCompactionSlot()?.getStore()).toBeUndefined();
  });

  it("reaches it through runtimeContext when there is no slot, and prefers the slot", async () => {
    const inContext: RuntimeCompaction = async () => ({
      ok: true,
      compacted: false,
      reason: "from context",
    });
    expect(
      await delegateCompactionToRuntime(
        params({ runtimeContext: { compactTranscript: inContext } }),
      ),
    ).toMatchObject({
      reason: "from context",
    });
    expect(
      await slot.run(echo, () =>
        delegateCompactionToRuntime(params({ runtimeContext: { compactTranscript: inContext } })),
      ),
    ).toMatchObject({ compacted: true });
  });

  it("is found from another copy of this package", async () => {
    vi.resetModules();
    const copy = await import("./delegate.ts");
    expect(copy.delegateCompactionToRuntime).not.toBe(delegateCompactionToRuntime);
    expect(await slot.run(echo, () => copy.delegateCompactionToRuntime(params()))).toMatchObject({
      compacted: true,
    });
    expect(
      isRuntimeCompactionDelegate(copy.delegateCompactionToRuntime) &&
        copy.isRuntimeCompactionDelegate(delegateCompactionToRuntime),
    ).toBe(true);
  });

  it("ignores compactionTarget and the context's file, forwards the rest", async () => {
    const signal = AbortSignal.timeout(60_000);
    const given = params({
      compactionTarget: "threshold",
      force: true,
      tokenBudget: 5,
      customInstructions: "x",
      abortSignal: signal,
      runtimeContext: { sessionFile: "/other", cwd: "/w" },
    });
    expect(await seen(given)).toEqual({
      ...params({ force: true, tokenBudget: 5, customInstructions: "x", abortSignal: signal }),
      runtimeContext: { cwd: "/w" },
    });
    expect(given.compactionTarget).toBe("threshold");
  });

  it("takes what the parameters lack from the context, and the explicit value where both are given", async () => {
    const runtimeContext = { sessionKey: "k", agentId: "a", currentTokenCount: 12.9 };
    expect(await seen(params({ runtimeContext }))).toMatchObject({
      sessionKey: "k",
      agentId: "a",
      currentTokenCount: 12,
    });
    expect(
      await seen(
        params({ runtimeContext, sessionKey: "mine", agentId: "b", currentTokenCount: 3 }),
      ),
    ).toMatchObject({
      sessionKey: "mine",
      agentId: "b",
      currentTokenCount: 3,
    });
    expect(
      await seen(params({ runtimeContext: { sessionKey: " ", currentTokenCount: -1 } })),
    ).not.toHaveProperty("sessionKey");
  });

  it.each([
    ["session identity", params({ sessionTarget: { agentId: "a", sessionId: "other" } })],
    [
      "session identity",
      params({
        sessionKey: "k",
        sessionTarget: { agentId: "a", sessionId: "s", sessionKey: "other" },
      }),
    ],
    ["agent identity", params({ agentId: "b", sessionTarget: { agentId: "a", sessionId: "s" } })],
    [
      "session identity",
      params({ runtimeContext: { sessionTarget: { agentId: "a", sessionId: "other" } } }),
    ],
  ])("refuses a target of another %s", async (identity, given) => {
    await expect(seen(given)).rejects.toThrow(identity);
  });

  it("passes the host's failure and abort through untouched", async () => {
    const abort = new DOMException("stopped", "AbortError");
    const failing: RuntimeCompaction = () => Promise.reject(abort);
    await expect(slot.run(failing, () => delegateCompactionToRuntime(params()))).rejects.toBe(
      abort,
    );
  });
});

describe("isRuntimeCompactionDelegate", () => {
  it("knows the delegate and nothing else", () => {
    expect(
      [delegateCompactionToRuntime, () => {}, undefined, "x"].map(isRuntimeCompactionDelegate),
    ).toEqual([true, false, false, false]);
  });
});
