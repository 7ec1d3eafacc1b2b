import { describe, expect, it } from "vitest";
import { ContextPruningSchema, sessionPruneOf } from "./pruning.ts";

const settings = (config: unknown) => sessionPruneOf(ContextPruningSchema.parse(config));

describe("settings of session pruning", () => {
  it("are only what was set, in the units of the planner", () => {
    expect(sessionPruneOf(undefined)).toBeUndefined();
    expect(settings({})).toEqual({});
    expect(settings({ mode: "off" })).toEqual({ mode: "off" });
    expect(settings({ mode: "aggressive", ttl: "1h" })).toEqual({
      mode: "cache-ttl",
      ttlMs: 3_600_000,
    });
    expect(settings({ ttl: 5, keepLastAssistants: 0 })).toEqual({
      ttlMs: 300_000,
      keepLastAssistants: 0,
    });
    expect(settings({ softTrim: { maxChars: 100 }, tools: { deny: ["exec"] } })).toEqual({
      softTrim: { maxChars: 100, headChars: 1500, tailChars: 1500 },
      tools: { allow: [], deny: ["exec"] },
    });
  });

  it("are refused when a time or a share makes no sense, and tolerate keys of other versions", () => {
    expect(ContextPruningSchema.safeParse({ ttl: "soon" }).success).toBe(false);
    expect(ContextPruningSchema.safeParse({ softTrimRatio: 30 }).success).toBe(false);
    expect(ContextPruningSchema.safeParse({ fromTheFuture: true }).success).toBe(true);
  });
});
