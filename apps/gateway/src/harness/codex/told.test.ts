import { describe, expect, it } from "vitest";
import { planCodexHome } from "./plan-home.ts";
import { afterEnd, NEVER_STARTED, waitBefore } from "./plan-restart.ts";
import { errorOf, ownCallIn, usageOf } from "./told.ts";
import { isSupported, versionIn } from "./version.ts";

describe("what Codex tells", () => {
  it.each([
    ["contextWindowExceeded", "overflow"],
    ["usageLimitExceeded", "billing"],
    [{ httpConnectionFailed: { httpStatusCode: 401 } }, "auth"],
    [{ httpConnectionFailed: { httpStatusCode: 404 } }, "not_found"],
    [{ responseTooManyFailedAttempts: { httpStatusCode: 429 } }, "rate_limited"],
    ["serverOverloaded", "overloaded"],
    [{ somethingNew: {} }, "unavailable"],
    [null, "unavailable"],
  ])("of a failure is read by its code: %j is %s", (codexErrorInfo, kind) => {
    expect(errorOf({ message: "no", codexErrorInfo }).kind).toBe(kind);
  });

  it("of a provider's own error is read by the code in it, as older versions tell it", () => {
    const told = (code: string) => JSON.stringify({ error: { message: "no", code } });
    const kindOf = (message: string) => errorOf({ message, codexErrorInfo: "other" }).kind;
    expect(kindOf(told("context_length_exceeded"))).toBe("overflow");
    expect(kindOf(told("whatever"))).toBe("unavailable");
    expect(kindOf("context_length_exceeded, says a person")).toBe("unavailable");
  });

  it("of usage counts what came from a cache once", () => {
    expect(
      usageOf({
        ...{ totalTokens: 1010, inputTokens: 1000, cachedInputTokens: 600 },
        ...{ cacheWriteInputTokens: 100, outputTokens: 10 },
      }),
    ).toEqual({ input: 300, output: 10, cacheRead: 600, cacheWrite: 100, totalTokens: 1010 });
  });

  it("of a command is a call and its result", () => {
    const told = ownCallIn({
      ...{ type: "commandExecution", id: "c1", command: "ls", cwd: "/w", status: "failed" },
      ...{ aggregatedOutput: "no such file", exitCode: 2, durationMs: 7 },
    });
    expect(told).toEqual({
      call: { id: "c1", name: "shell", args: { command: "ls", cwd: "/w" } },
      result: { text: "no such file\n(exit code 2)\nfailed", isError: true, durationMs: 7 },
    });
  });

  it("of its version is in its user agent", () => {
    expect(versionIn("clew/0.171.0 (Debian 12; x86_64) unknown (clew; 0.0.0)")).toBe("0.171.0");
    expect(versionIn("clew")).toBeUndefined();
    expect(["0.144.9", "0.145.0", "0.171.0", "1.0.0"].map(isSupported)).toEqual([
      ...[false, true, true, true],
    ]);
  });
});

describe("a home of Codex", () => {
  it("holds where its models are, and no secret", () => {
    const provider = { name: 'a "b"', baseUrl: "https://models.test/v1/", key: "clew-secret" };
    const { config, env } = planCodexHome(provider);
    expect(config).toContain('base_url = "https://models.test/v1"');
    expect(config).toContain('name = "a \\"b\\""');
    expect(config).not.toMatch(/secret/);
    expect(env).toEqual({ CLEW_MODEL_KEY: "clew-secret" });
  });
});

describe("a Codex that ended", () => {
  it("is started again at once, then ever later, up to half a minute", () => {
    let record = NEVER_STARTED;
    const waits = Array.from({ length: 9 }, () => {
      record = afterEnd(record, { startedAt: 0, now: 10 });
      return waitBefore(record, 10);
    });
    expect(waits).toEqual([0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    record = afterEnd(record, { startedAt: 0, now: 100_000 });
    expect(waitBefore(record, 100_000)).toBe(0);
  });
});
