import { assistant, user } from "@clew/plugin-sdk/testing";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { prose } from "../__fixtures__/histories.ts";
import { memorySession, obedient } from "../__fixtures__/session.ts";
import type { CompactTranscriptRequest } from "./compact-request.ts";
import { compactTranscript, previewCompaction } from "./run.ts";
import { countedPerEstimate, toldSizes } from "./told-size.ts";

const options = { reserveTokensFloor: 20_000 };
const messages = Array.from({ length: 60 }, (_, turn) => [
  user(`Request ${turn}. ${prose(300, turn)}`),
  assistant(`Done ${turn}. ${prose(300, turn + 1)}`),
]).flat();

describe("the sizes a compaction tells", () => {
  it.each([
    ["the model's ratio", { tokenRatio: 1.5 }, (estimate: number) => 1.5 * estimate],
    ["a ratio below one", { tokenRatio: 0.7 }, (estimate: number) => 0.7 * estimate],
    [
      "what the provider counted of the request, less what is fixed",
      { fixedTokens: 1000, currentTokenCount: 90_000 },
      () => 90_000 - 1200,
    ],
  ])("are corrected by %s", async (_, counting: Partial<CompactTranscriptRequest>, expected) => {
    const transcript = memorySession(messages);
    const estimate = () => estimateMessages(transcript.context()).estimate;
    const request = { transcript, model: obedient(), trigger: "overflow" as const, ...counting };
    const before = estimate();
    const told = Math.ceil(expected(before));
    const preview = await previewCompaction(request);
    expect(preview.tokensBefore).toBe(told);
    const { result } = await compactTranscript(request);
    expect(result!.tokensBefore).toBe(told);
    expect(result!.tokensAfter).toBe(Math.round((told / before) * estimate()));
    expect(transcript.branch().at(-1)).toMatchObject({ tokensBefore: told });
  });

  it("shrink where the context does, whatever the ratio rounds to", () => {
    const size = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(size, size, fc.double({ min: 0.1, max: 4, noNaN: true }), (a, b, perEstimate) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b) + 1];
        const told = toldSizes({ tokensBefore: more, perEstimate }, less);
        expect(told.tokensAfter).toBeLessThan(told.tokensBefore);
      }),
    );
  });

  it("of an empty context, or by a count that is none, are estimates", () => {
    const counting = { contextWindow: 100_000, options };
    expect(countedPerEstimate(counting, 0)).toBe(1);
    expect(countedPerEstimate({ ...counting, currentTokenCount: Number.NaN }, 100)).toBe(1);
    expect(countedPerEstimate({ ...counting, currentTokenCount: -1 }, 100)).toBe(1);
  });
});
