import { describe, expect, it } from "vitest";
import { callTool, MODEL, type Reply, testHost, tools } from "../__fixtures__/host.ts";
import { sessionPruneSettings } from "./session-prune.ts";

const cached = { ...MODEL, contextWindow: 10_000, cacheTtlMs: 1 };
const big: Reply[] = [callTool("big"), "a", "b", "c", "d", "e", "f"];
const settings = { reserveTokens: 0, sessionPrune: { mode: "cache-ttl" as const } };

async function sessionWithOldResult(model = cached) {
  const host = testHost({
    replies: big,
    tools: tools({ big: () => "line of output\n".repeat(900) }),
  });
  await host.say("fetch it", { model, settings });
  for (const text of ["1", "2", "3"]) await host.say(text, { model, settings });
  return host;
}
const shownResult = (host: Awaited<ReturnType<typeof sessionWithOldResult>>) =>
  host.lastSeen().find((line) => line.startsWith("toolResult"))!;

describe("session pruning", () => {
  it("is off unless a mode is set, also for models with a known cache time", () => {
    expect(sessionPruneSettings(cached)).toMatchObject({ mode: "off" });
    expect(sessionPruneSettings(MODEL, { ttlMs: 5 })).toMatchObject({ mode: "off" });
  });

  it("goes by the model's cache time, or by the one that is set", () => {
    expect(sessionPruneSettings(cached, { mode: "cache-ttl" })).toEqual({
      mode: "cache-ttl",
      ttlMs: 1,
    });
    expect(sessionPruneSettings(cached, { mode: "cache-ttl", ttlMs: 7 })).toMatchObject({
      ttlMs: 7,
    });
  });

  it("shortens old results in the view once the cache is cold, and keeps them whole in the transcript", async () => {
    const host = await sessionWithOldResult();
    await host.say("4", { model: cached, settings });
    expect(shownResult(host).length).toBeLessThan(5_000);
    const stored = host.ports.transcript.entries.find(
      (entry) => entry.type === "message" && entry.message.role === "toolResult",
    );
    expect(JSON.stringify(stored).length).toBeGreaterThan(13_000);
    expect(host.ports.transcript.entries.filter((entry) => entry.type === "custom")).toHaveLength(
      1,
    );
  });

  it("shows the same bytes ever after, also to a host that starts again", async () => {
    const host = await sessionWithOldResult();
    await host.say("4", { model: cached, settings });
    const before = shownResult(host);
    const again = testHost({ replies: ["g"], transcript: host.ports.transcript });
    await again.say("5", { model: cached, settings });
    expect(shownResult(again)).toBe(before);
  });

  it("leaves a warm cache alone", async () => {
    const host = await sessionWithOldResult({ ...cached, cacheTtlMs: 1_000_000 });
    expect(shownResult(host).length).toBeGreaterThan(12_000);
  });
});
