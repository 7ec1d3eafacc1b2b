import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { assistant, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { prose } from "../__fixtures__/histories.ts";
import { memorySession, patientSleep, scripted } from "../__fixtures__/session.ts";
import type { CompactionDetails } from "./details.ts";
import { compactTranscript } from "./run.ts";
import { createSummariserRest } from "./summariser-rest.ts";

const messages: AgentMessage[] = Array.from({ length: 60 }, (_, turn) => [
  user(`Request ${turn}. ${prose(300, turn)}`),
  assistant(`Done ${turn}. ${prose(300, turn + 1)}`),
]).flat();

/** Compactions of new sessions, at times in minutes, all by one model that fails. */
function failing(error: ModelError) {
  const model = scripted([error]);
  const rest = createSummariserRest();
  const waits: number[] = [];
  return {
    model,
    waits,
    async compact(minute: number) {
      const { ok, code, reason, result } = await compactTranscript({
        ...{ transcript: memorySession(messages), model, rest, trigger: "manual" },
        now: () => minute * 60_000,
        sleep: patientSleep(waits),
      });
      const { tier } = (result?.details ?? {}) as Partial<CompactionDetails>;
      return { ok, code, reason, tier, calls: model.calls.length };
    },
  };
}

describe("a summariser that was away", () => {
  it("is asked again only after a while, and the report says so", async () => {
    const { compact, waits } = failing({ kind: "unavailable", message: "503" });
    expect(await compact(0)).toEqual({
      ok: true,
      code: "weaker-summary",
      reason: "the summarising model failed (unavailable); it is asked again in 5 min",
      tier: "extract",
      calls: 2,
    });
    expect(await compact(1)).toMatchObject({
      ok: true,
      reason: "the summarising model failed (unavailable); it is asked again in 4 min",
      calls: 2,
    });
    expect(waits).toHaveLength(1);
    expect(await compact(5)).toMatchObject({ calls: 4 });
  });

  it("rests as long as its provider asks for", async () => {
    const limit: ModelError = { kind: "rate_limited", message: "429", retryAfterMs: 90_000 };
    const { compact, waits } = failing(limit);
    expect(await compact(0)).toMatchObject({
      reason: "the summarising model failed (rate_limited); it is asked again in 2 min",
      calls: 1,
    });
    expect(await compact(1)).toMatchObject({ reason: expect.stringMatching(/in 30 s$/), calls: 1 });
    expect(await compact(2)).toMatchObject({ calls: 2 });
    expect(waits).toEqual([]);
  });

  it("is asked the next time where only the request was wrong", async () => {
    const { compact } = failing({ kind: "invalid_request", message: "400" });
    const reason = "the summarising model failed (invalid_request)";
    expect(await compact(0)).toMatchObject({ reason, calls: 1 });
    expect(await compact(1)).toMatchObject({ reason, calls: 2 });
  });
});
