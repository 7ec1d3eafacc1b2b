import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { hastySleep, patientSleep, reply, scripted } from "../__fixtures__/session.ts";
import { type Circuit, requestSummary, retryDelay } from "./request.ts";

const thinkingOnly: AssistantMessage = {
  role: "assistant",
  content: [{ type: "thinking", thinking: "hm" }],
  stopReason: "stop",
};
const failing = (kind: ModelError["kind"], extras = {}) =>
  ({ kind, message: "no", ...extras }) as ModelError;

async function ask(
  script: Parameters<typeof scripted>[0],
  extras: Partial<Parameters<typeof requestSummary>[2]> = {},
) {
  const waits: number[] = [];
  const model = scripted(script);
  const outcome = await requestSummary("prompt", 1000, {
    model,
    sleep: patientSleep(waits),
    random: () => 0.5,
    ...extras,
  });
  return { outcome, waits, calls: model.calls };
}

describe("one summary request", () => {
  it("is one user message without tools, within the given output", async () => {
    const { outcome, calls } = await ask(["  text  "]);
    expect(outcome).toEqual({ ok: true, text: "text" });
    expect(calls).toMatchObject([
      { messages: [{ role: "user", content: "prompt" }], tools: [], maxOutputTokens: 1000 },
    ]);
  });

  it.each([
    ["no content", reply("")],
    ["white space", reply(" \n\t ")],
    ["only thinking", thinkingOnly],
    ["a refusal", reply("I'm sorry, but I can't help with that.")],
    ["a broken-off text", { ...reply("half"), stopReason: "error" as const }],
    ["an abort nobody asked for", { ...reply("half"), stopReason: "aborted" as const }],
    ["a reply nobody can read", failing("invalid_response")],
  ])("is tried three times on %s, waiting in between", async (_, answer) => {
    const { outcome, waits, calls } = await ask([answer]);
    expect(outcome).toMatchObject({ ok: false, kind: "failed" });
    expect(calls).toHaveLength(3);
    expect(waits).toEqual([500, 1000]);
  });

  it("succeeds when a later attempt does", async () => {
    expect((await ask([failing("invalid_response"), reply(""), "there"])).outcome).toEqual({
      ok: true,
      text: "there",
    });
  });

  it.each([
    ["an overloaded provider", failing("overloaded"), 300_000],
    ["a broken provider", failing("unavailable"), 300_000],
    ["a network that is down", failing("network"), 300_000],
    ["rate limiting", failing("rate_limited"), 300_000],
    ["a short rate limit", failing("rate_limited", { retryAfterMs: 1500 }), 300_000],
    ["a provider's abort", failing("aborted"), 300_000],
    ["a port that throws", new Error("boom"), 300_000],
  ])(
    "is tried once more, soon, on %s, and the model is left alone then",
    async (_, answer, rest) => {
      const circuit: Circuit = { brokenBy: undefined };
      const { outcome, waits, calls } = await ask([answer], { circuit });
      expect(outcome).toMatchObject({ ok: false, kind: "terminal" });
      expect([calls.length, waits.length]).toEqual([2, 1]);
      expect(waits[0]).toBeLessThanOrEqual(1500);
      expect(circuit).toMatchObject({ brokenBy: expect.any(String), restMs: rest });
    },
  );

  it.each([
    ["a timeout", failing("timeout"), 300_000],
    ["a refused key", failing("auth"), 300_000],
    ["an unpaid bill", failing("billing"), 300_000],
    ["a model that is not there", failing("not_found"), 300_000],
    ["a refused request", failing("invalid_request"), undefined],
    ["a long rate limit", failing("rate_limited", { retryAfterMs: 30_000 }), 30_000],
    ["a day's rate limit", failing("rate_limited", { retryAfterMs: 86_400_000 }), 3_600_000],
  ])("is not repeated, and nothing is waited for, after %s", async (_, answer, rest) => {
    const circuit: Circuit = { brokenBy: undefined };
    const { outcome, waits, calls } = await ask([answer], { circuit });
    expect(waits).toEqual([]);
    expect(outcome).toMatchObject({ ok: false, kind: "terminal" });
    expect([calls.length, circuit.restMs]).toEqual([1, rest]);
  });

  it("is not repeated by the port either", async () => {
    expect((await ask(["text"])).calls).toMatchObject([{ maxRetries: 0 }]);
  });

  it("says when it was too large", async () => {
    const { outcome, calls } = await ask([failing("overflow", { observedTokens: 9 })]);
    expect([outcome, calls.length]).toMatchObject([{ ok: false, kind: "overflow" }, 1]);
  });

  it("ends after its bound when the model never answers, and tells the model to stop", async () => {
    const { outcome, calls } = await ask(["never"], { sleep: hastySleep, timeoutMs: 60_000 });
    expect(outcome).toEqual({
      ok: false,
      kind: "terminal",
      reason: "the summarising model did not answer within 60 s",
    });
    expect(calls[0]!.signal.aborted).toBe(true);
  });

  it("throws the caller's abort, in a request and in a wait", async () => {
    const reason = new Error("stop it");
    const inRequest = new AbortController();
    const asking = ask(["never"], { signal: inRequest.signal });
    inRequest.abort(reason);
    await expect(asking).rejects.toBe(reason);

    const inWait = new AbortController();
    const sleep = (ms: number, signal: AbortSignal) => {
      if (ms <= 5000) inWait.abort(reason);
      return patientSleep()(Math.max(ms, 6000), signal);
    };
    const waiting = ask([failing("rate_limited")], {
      signal: inWait.signal,
      sleep: (ms, signal) =>
        ms <= 5000 ? Promise.resolve(inWait.abort(reason)) : sleep(ms, signal),
    });
    await expect(waiting).rejects.toBe(reason);
  });

  it("tells progress when it starts, half way, and when it ends", async () => {
    let progress = 0;
    await ask(["never"], { sleep: hastySleep, onProgress: () => progress++ });
    expect(progress).toBe(3);
  });

  it("reports what was billed, once per answer", async () => {
    const billed: unknown[] = [];
    await ask([reply(""), "text"], { onUsage: (usage) => billed.push(usage?.input) });
    expect(billed).toEqual([100, 100]);
  });

  it("sends nothing more once the circuit is broken", async () => {
    const circuit = { brokenBy: undefined };
    expect((await ask([failing("auth")], { circuit })).calls).toHaveLength(1);
    expect(await ask(["text"], { circuit })).toMatchObject({
      outcome: { ok: false, kind: "terminal" },
      calls: [],
    });
  });

  it("takes a text out of its code fence", async () => {
    expect((await ask(["```markdown\n## Goal\nx\n```"])).outcome).toEqual({
      ok: true,
      text: "## Goal\nx",
    });
  });

  it("takes a text of 800 characters for a summary, however it begins", async () => {
    const opening = "I'm sorry, but ";
    const long = opening + "x".repeat(800 - opening.length);
    expect((await ask([long])).outcome).toEqual({ ok: true, text: long });
    expect((await ask([long.slice(0, 799)])).outcome).toMatchObject({ ok: false });
  });

  it("does not take a summary about a refusal for one", async () => {
    const text = "## Decisions\n- I'm sorry was said";
    expect((await ask([text])).outcome).toEqual({ ok: true, text });
  });
});

describe("the wait between attempts", () => {
  it.each([
    [1, 0.5, 0, 500],
    [1, 1, 0, 600],
    [1, 0, 0, 500],
    [2, 0, 0, 800],
    [3, 0.5, 0, 2000],
    [9, 0.5, 0, 5000],
    [1, 0.5, 3000, 3000],
    [1, 0.5, 60_000, 5000],
  ])(
    "attempt %i, jitter at %f, provider asks %i ms: %i ms",
    (attempt, random, retryAfter, delay) => {
      expect(retryDelay(attempt, random, retryAfter)).toBe(delay);
    },
  );
});
