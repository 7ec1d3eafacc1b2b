import type { AgentMessage } from "@clew/plugin-sdk/core";
import {
  openRequest,
  pairToolCalls,
  type TranscriptEntry,
  textOf,
} from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyTurn, prose } from "../__fixtures__/histories.ts";
import {
  hastySleep,
  memorySession,
  now,
  obedientSummary,
  promptOf,
  scripted,
} from "../__fixtures__/session.ts";
import { pinnedText } from "./facts.ts";
import { planLimits } from "./limits.ts";
import { type CompactTranscriptRequest, compactTranscript, previewCompaction } from "./run.ts";

const COMPACTIONS = 1000;

/** Every way a summariser has been seen to behave. */
const behaviours: readonly Parameters<typeof scripted>[0][] = [
  (call) => obedientSummary(promptOf(call)),
  (call) => obedientSummary(promptOf(call)),
  ["## Decisions\n- half of it"],
  [""],
  ["I'm sorry, I can't help with that."],
  [prose(30_000)],
  [{ kind: "unavailable", message: "503" }],
  [{ kind: "overflow", message: "too long" }],
  ["never"],
];

/** Where the open request's text stands now: as a message, or word for word above the summary. */
function holds(context: readonly AgentMessage[], text: string): boolean {
  const asMessage = context.some((message) => message.role === "user" && message.content === text);
  const [head] = context;
  return (
    asMessage ||
    (head?.role === "compactionSummary" &&
      head.summary.includes(`<open-request>\n${text}\n</open-request>`))
  );
}

function whole(context: readonly AgentMessage[], before: readonly AgentMessage[]): void {
  // A result without its call is only where the history itself had one.
  const orphans = (messages: readonly AgentMessage[]) =>
    pairToolCalls(messages).orphanResults.length;
  const unanswered = (messages: readonly AgentMessage[]) =>
    pairToolCalls(messages).unanswered.length;
  expect(orphans(context)).toBeLessThanOrEqual(orphans(before));
  expect(unanswered(context)).toBeLessThanOrEqual(unanswered(before));
}

describe(`${COMPACTIONS} random compactions`, () => {
  it("keep the open request, whole pairs and every written byte, and shrink the context or write nothing", async () => {
    const seed = 20_261_120;
    const turns = fc.sample(anyTurn, { seed, numRuns: 3 * COMPACTIONS });
    const picks = fc.sample(
      fc.record({
        behaviour: fc.nat(behaviours.length - 1),
        window: fc.constantFrom(8_000, 16_000, 32_000, 64_000, 128_000),
        trigger: fc.constantFrom("manual", "threshold", "budget", "overflow", "timeout_recovery"),
        turns: fc.integer({ min: 1, max: 5 }),
        fresh: fc.nat(9),
      }),
      { seed, numRuns: COMPACTIONS },
    );
    let session = memorySession();
    let written = new Map<TranscriptEntry, string>();
    let next = 0;
    let done = 0;
    const pins: boolean[] = [];
    for (const pick of picks) {
      if (pick.fresh === 0) {
        for (const [entry, json] of written) expect(JSON.stringify(entry)).toBe(json);
        session = memorySession();
        written = new Map();
      }
      session.say(...turns.slice(next, next + pick.turns).flat());
      next = (next + pick.turns) % (turns.length - 5);
      const before = session.context();
      const open = openRequest(session.branch());
      const request: CompactTranscriptRequest = {
        transcript: session,
        model: scripted(behaviours[pick.behaviour]!, { contextWindow: pick.window }),
        trigger: pick.trigger as CompactTranscriptRequest["trigger"],
        now,
        sleep: hastySleep,
        random: () => 0.5,
        options: { pruneProtectTokens: 4_000, pruneMinimumTokens: 2_000 },
      };
      const preview = previewCompaction(request);
      const result = await compactTranscript(request);
      const after = session.context();
      if (result.compacted) {
        done++;
        expect(result.result!.tokensAfter!).toBeLessThan(result.result!.tokensBefore);
        expect(preview.kind).not.toBe("nothing");
        whole(after, before);
      } else {
        expect(after).toEqual(before);
        expect(result.reason).toBeTruthy();
      }
      if (open !== undefined) {
        const limits = planLimits({
          contextWindow: pick.window,
          maxOutputTokens: 8_000,
          reserveTokensFloor: 20_000,
          fixedTokens: 0,
        });
        const text = textOf(open.message);
        const pinned = holds(after, text) || holds(after, pinnedText(text, limits));
        expect(pinned).toBe(true);
        pins.push(pinnedText(text, limits) === text);
      }
      // As written, so it stays: byte for byte, to the end of the session.
      for (const entry of session.written)
        if (!written.has(entry)) written.set(entry, JSON.stringify(entry));
    }
    expect(done).toBeGreaterThan(COMPACTIONS / 4);
    expect(pins.filter(Boolean).length).toBeGreaterThan(COMPACTIONS / 20);
  }, 120_000);
});
