import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateText } from "@clew/plugin-sdk/tokens";
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
import type { CompactTranscriptRequest } from "./compact-request.ts";
import { planLimits } from "./limits.ts";
import { compactTranscript, previewCompaction } from "./run.ts";

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

/** What is said before a compaction, and how the compaction goes. */
const anyStep = fc.record({
  said: fc.array(anyTurn, { minLength: 1, maxLength: 5 }),
  behaviour: fc.nat(behaviours.length - 1),
  window: fc.constantFrom(8_000, 16_000, 32_000, 64_000, 128_000),
  trigger: fc.constantFrom("manual", "threshold", "budget", "overflow", "timeout_recovery"),
});
const anySession = fc.array(anyStep, { minLength: 1, maxLength: 20 });

describe("random compactions", () => {
  it("keep the open request, whole pairs and every written byte, and shrink the context or write nothing", async () => {
    let tried = 0;
    let done = 0;
    let pinned = 0;
    await fc.assert(
      fc.asyncProperty(anySession, async (steps) => {
        const session = memorySession();
        const written = new Map<TranscriptEntry, string>();
        for (const { said, behaviour, window, trigger } of steps) {
          session.say(...said.flat());
          const before = session.context();
          const open = openRequest(session.branch());
          const request: CompactTranscriptRequest = {
            transcript: session,
            model: scripted(behaviours[behaviour]!, { contextWindow: window }),
            trigger,
            now,
            sleep: hastySleep,
            random: () => 0.5,
            options: { pruneProtectTokens: 4_000, pruneMinimumTokens: 2_000 },
          };
          const preview = await previewCompaction(request);
          const result = await compactTranscript(request);
          const after = session.context();
          tried++;
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
            const { tailTokens } = planLimits({
              contextWindow: window,
              maxOutputTokens: 8_000,
              reserveTokens: 20_000,
              fixedTokens: 0,
            });
            const text = textOf(open.message);
            const isLong = estimateText(text).high > tailTokens / 2;
            const isCut = after.some((message) =>
              textOf(message).includes(`@${open.entryId} is the whole`),
            );
            expect(holds(after, text) || (isLong && isCut)).toBe(true);
            if (holds(after, text)) pinned++;
          }
          // As written, so it stays: byte for byte, to the end of the session.
          for (const entry of session.written)
            if (!written.has(entry)) written.set(entry, JSON.stringify(entry));
        }
        for (const [entry, json] of written) expect(JSON.stringify(entry)).toBe(json);
      }),
      // A case is a session of about five compactions.
      { numRuns: fc.readConfigureGlobal().numRuns! / 5 },
    );
    // Most histories leave something to do (measured: 4 of 5), some a request short enough
    // to stand whole (1 of 9).
    if (tried >= 50) expect(done).toBeGreaterThan(tried / 4);
    if (tried >= 1000) expect(pinned).toBeGreaterThan(tried / 20);
  });
});
