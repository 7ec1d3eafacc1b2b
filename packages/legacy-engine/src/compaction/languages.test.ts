import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { pathsInLedger, splitRecord, textOf } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LANGUAGES, tellSession } from "../__fixtures__/languages.ts";
import { hastySleep, memorySession, now, scripted } from "../__fixtures__/session.ts";
import { compactTranscript } from "./run.ts";

const PROMPT_BUDGET = 32_000;
const WINDOW = Math.ceil(PROMPT_BUDGET / 0.75);

/** What a model is shown at the end of a session that is compacted without one. */
async function viewAfter(messages: readonly AgentMessage[]) {
  const session = memorySession();
  const model = scripted([{ kind: "unavailable", message: "503" }], { contextWindow: WINDOW });
  let compactions = 0;
  for (const message of messages) {
    session.say(message);
    if (message.role !== "assistant" || message.stopReason === "toolUse") continue;
    if (estimateMessages(session.context()).estimate < 0.9 * PROMPT_BUDGET) continue;
    const { compacted } = await compactTranscript({
      ...{ transcript: session, model, trigger: "threshold", now, sleep: hastySleep },
      options: { prune: false },
    });
    if (compacted) compactions++;
  }
  const context = session.context();
  const record = splitRecord(textOf(context[0]!));
  const shown = [...context.map((one) => JSON.stringify(one)), ...context.map(textOf)].join("\n");
  return { compactions, text: [shown, ...pathsInLedger(record.ledger)].join("\n") };
}

/** Whole numbers below a bound, different from each other, the same for the same first one. */
function picker(first: number) {
  let state = first;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("a session without a summarising model", () => {
  it.each(Object.entries(LANGUAGES))(
    "in %s keeps what was asked and what it worked with",
    async (_, language) => {
      await fc.assert(
        fc.asyncProperty(fc.nat(), async (first) => {
          const { messages, constraints, names } = tellSession(language, 120, picker(first));
          const { compactions, text } = await viewAfter(messages);
          expect(compactions).toBeGreaterThan(1);
          const share = (wanted: readonly string[]) =>
            wanted.filter((one) => text.includes(one)).length / wanted.length;
          expect(share(constraints)).toBeGreaterThanOrEqual(0.95);
          expect(share(names)).toBeGreaterThanOrEqual(0.95);
        }),
        // A case is a session of many compactions.
        { numRuns: fc.readConfigureGlobal().numRuns! / 25 },
      );
    },
  );
});
