import type { ModelError } from "@clew/plugin-sdk/host";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_RETRY, planRetry } from "./retry.ts";

const plan = (error: ModelError, retriesDone = 0, random = 0.5) =>
  planRetry({ error, retriesDone, options: DEFAULT_RETRY, random });
const unavailable: ModelError = { kind: "unavailable", message: "" };

describe("planRetry", () => {
  it("doubles the wait and stops after two retries", () => {
    expect(plan(unavailable, 0)).toEqual({ kind: "retry", delayMs: 500 });
    expect(plan(unavailable, 1)).toEqual({ kind: "retry", delayMs: 1000 });
    expect(plan(unavailable, 2)).toEqual({ kind: "stop" });
  });

  it("waits as long as the provider asks, unless that is too long", () => {
    expect(plan({ kind: "rate_limited", message: "", retryAfterMs: 7000 })).toEqual({
      kind: "retry",
      delayMs: 7000,
    });
    expect(plan({ kind: "rate_limited", message: "", retryAfterMs: 30_001 })).toEqual({
      kind: "stop",
    });
    expect(plan({ kind: "rate_limited", message: "" })).toEqual({ kind: "retry", delayMs: 500 });
  });

  it("repeats a timeout only when the server told it", () => {
    expect(plan({ kind: "timeout", message: "", status: 504 }).kind).toBe("retry");
    expect(plan({ kind: "timeout", message: "" }).kind).toBe("stop");
  });

  it("never repeats what would fail again", () => {
    for (const kind of [
      "overflow",
      "auth",
      "billing",
      "not_found",
      "refused",
      "signature",
      "encrypted_content",
      "pairing",
      "reasoning_required",
      "cache_rejected",
      "invalid_request",
      "invalid_response",
      "aborted",
    ] as const)
      expect(plan({ kind, message: "" })).toEqual({ kind: "stop" });
  });

  it("never waits longer than the longest wait, whatever chance says", () => {
    const options = { ...DEFAULT_RETRY, maxRetries: 50 };
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 49 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (retriesDone, random) => {
          const found = planRetry({ error: unavailable, retriesDone, options, random });
          expect(
            found.kind === "retry" && found.delayMs >= 400 && found.delayMs <= options.maxDelayMs,
          ).toBe(true);
        },
      ),
    );
  });
});
