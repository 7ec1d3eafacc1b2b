import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateText } from "@clew/plugin-sdk/tokens";
import { textOf } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { prose } from "../__fixtures__/histories.ts";
import { hastySleep, memorySession, now, scripted } from "../__fixtures__/session.ts";
import { compactTranscript } from "./run.ts";

// Measured with the estimator.
const WORDS_PER_TOKEN = 0.88;
const WINDOWS = [8192, 12_000, 20_000, 42_667, 84_000, 148_000];

describe("the request that an agent is working on", () => {
  it("stands whole behind compactions of its turn, up to half of the prompt budget", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...WINDOWS),
        fc.double({ min: 0.02, max: 0.6, noNaN: true }),
        async (window, share) => {
          const budget = 0.75 * window;
          const asked = prose(Math.floor(share * budget * WORDS_PER_TOKEN));
          const session = memorySession([user("hello"), assistant("hi"), user(asked)]);
          const model = scripted([{ kind: "unavailable", message: "503" }], {
            contextWindow: window,
          });
          const size = () =>
            session.context().reduce((sum, it) => sum + estimateText(textOf(it)).estimate, 0);
          for (let step = 0; step < 3; step++) {
            while (size() < 0.9 * budget) {
              const call = toolCall("fetch", { url: `https://example.com/${step}` });
              session.say(
                assistant([call]),
                toolResult(call, prose(Math.floor(0.07 * budget * WORDS_PER_TOKEN), step)),
              );
            }
            const result = await compactTranscript({
              ...{ transcript: session, model, trigger: "threshold", now, sleep: hastySleep },
              options: { prune: false },
            });
            expect(result).toMatchObject({ compacted: true });
            const shown = session.context().map(textOf).join("\n");
            if (share <= 0.5) expect(shown).toContain(asked);
            else expect(shown.includes(asked) || shown.includes(" is the whole …]")).toBe(true);
            expect(size()).toBeLessThan(0.83 * budget);
          }
        },
      ),
      // A case is three compactions of a session of its window's size.
      { numRuns: fc.readConfigureGlobal().numRuns! / 10 },
    );
  });
});
