import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  CompactionOptionsSchema,
  compactionOptions,
  KEYS_WITHOUT_EFFECT,
  keysWithoutEffect,
} from "./options.ts";

describe("compaction options", () => {
  it("has the documented defaults", () => {
    expect(compactionOptions()).toEqual({
      enabled: true,
      mode: "default",
      timeoutSeconds: 180,
      recentTurnsPreserve: 3,
      reserveTokensFloor: 20_000,
      maxHistoryShare: 0.5,
      identifierPolicy: "strict",
      qualityGuard: { enabled: true, maxRetries: 1 },
      prune: true,
      pruneProtectTokens: 40_000,
      pruneMinimumTokens: 20_000,
      pruneProtectedTools: [],
      agentPrune: false,
      midTurnPrecheck: { enabled: true },
      models: {},
    });
  });

  it("accepts a configuration written for OpenClaw of either generation, and keeps what it does not know", () => {
    const theirs = {
      mode: "safeguard",
      reserveTokensFloor: 0,
      maxHistoryShare: 0.3,
      memoryFlush: { enabled: true, softThresholdTokens: 4000 },
      maxActiveTranscriptBytes: "20mb",
      postIndexSync: "async",
      somethingNew: 1,
    };
    expect(CompactionOptionsSchema.parse(theirs)).toMatchObject(theirs);
  });

  it.each([
    [{ pruneProtectTokens: Number.NaN }, { pruneProtectTokens: 40_000 }],
    [{ pruneMinimumTokens: -1 }, { pruneMinimumTokens: 20_000 }],
    [{ pruneProtectTokens: 1000.9 }, { pruneProtectTokens: 1000 }],
    [{ highWaterTokens: "many", lowWaterTokens: 9_000 }, { lowWaterTokens: 9_000 }],
    [{ recentTurnsPreserve: 13 }, { recentTurnsPreserve: 3 }],
    [
      { maxHistoryShare: 0.05, timeoutSeconds: 30 },
      { maxHistoryShare: 0.5, timeoutSeconds: 30 },
    ],
    [{ qualityGuard: { maxRetries: 2 } }, { qualityGuard: { enabled: true, maxRetries: 2 } }],
  ])("%o becomes %o, and the other keys stay", (raw, expected) => {
    expect(compactionOptions(raw)).toMatchObject(expected);
  });

  it("names the keys that change nothing, with a reason, and no working one", () => {
    expect(
      keysWithoutEffect({ postIndexSync: {}, prune: true, notifyUser: true, unknown: 1 }),
    ).toEqual([
      { key: "postIndexSync", reason: expect.stringContaining("memory") },
      { key: "notifyUser", reason: expect.any(String) },
    ]);
    for (const key of Object.keys(CompactionOptionsSchema.shape))
      expect(KEYS_WITHOUT_EFFECT).not.toHaveProperty(key);
    expect(keysWithoutEffect("nonsense")).toEqual([]);
  });

  it("describes every key, so that the docs table can be generated", () => {
    const { properties } = z.toJSONSchema(CompactionOptionsSchema, { io: "input" });
    for (const [key, schema] of Object.entries(properties ?? {}))
      expect(schema, key).toHaveProperty("description");
  });
});
