import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, conversation, user } from "@clew/plugin-sdk/testing";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLosslessEngine } from "../engine.ts";
import { openMessageStore } from "../library/message-store.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { tidied } from "./tidy.ts";

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    ...[Number.NaN, Infinity, -Infinity, null, undefined, "", "x", "1e999", "2026-01-01T00:00:00Z"],
    ...[{}, { a: 1 }, [], 5n, 10n ** 30n, new Date(1_000), new Date(Number.NaN), true, Symbol("s")],
    ...[
      () => 1,
      1.5,
      -1,
      0,
      8.64e15,
      8.65e15,
      1e300,
      "17",
      "\ud800",
      "a\u0000b",
      "k".repeat(9_999),
    ],
  ),
  fc.anything(),
);
const message = fc
  .record({ timestamp: odd, idempotencyKey: odd, isPerson: fc.boolean(), hasId: fc.boolean() })
  .map(({ timestamp, idempotencyKey, isPerson, hasId }, at = 0) => ({
    ...(isPerson ? user("what was asked") : assistant("what was answered")),
    ...{ timestamp, idempotencyKey },
    ...(hasId && { __openclaw: { id: `e${at}` } }),
  }));
/** Each says something of its own. */
const messages = fc
  .array(message, { minLength: 1, maxLength: 6 })
  .map((all) =>
    all.map((each, at) => ({ ...each, content: `${at} is said` }) as unknown as AgentMessage),
  );

describe("messages with odd times and keys", () => {
  it("are what they should be, and the same where they are", () => {
    const whole = conversation({ turns: 3 });
    expect(tidied(whole)).toBe(whole);
    const timeOf = (timestamp: unknown) =>
      tidied([{ ...user("x"), timestamp } as AgentMessage])[0]!.timestamp;
    expect([new Date(1_000), "1970-01-01T00:00:01Z", "1000", 1_000n, 1_000].map(timeOf)).toEqual(
      Array(5).fill(1_000),
    );
    expect([Number.NaN, Infinity, {}, null, "soon", 1e300, true].map(timeOf)).toEqual(
      Array(7).fill(undefined),
    );
    const keyOf = (idempotencyKey: unknown) =>
      tidied([{ ...user("x"), idempotencyKey } as AgentMessage])[0]!.idempotencyKey;
    expect([5, 5n, "5", "", {}, null, Number.NaN].map(keyOf)).toEqual([
      ...["5", "5", "5", undefined, undefined, undefined, undefined],
    ]);
  });

  it("are kept, each once, whichever call tells of them", async () => {
    await fc.assert(
      fc.asyncProperty(messages, fc.integer({ min: 0, max: 3 }), async (told, call) => {
        const engine = createLosslessEngine({ agentDir: temporaryFolder() });
        onTestFinished(() => engine.dispose?.());
        const session = { sessionId: "s", sessionKey: "k" };
        const calls = [
          async () => {
            for (const message of told) await engine.ingest!({ ...session, message });
          },
          () => engine.ingestBatch!({ ...session, messages: told }),
          () =>
            engine.afterTurn!({
              ...{ ...session, messages: told, prePromptMessageCount: 0 },
              sessionFile: undefined as never,
            }),
          () =>
            engine.commitTurn!({
              ...{ ...session, messages: told, advancementKey: "turn" },
              admission: { entryId: "a", activeMessagePosition: 0 },
              terminal: { entryId: "z", activeMessagePosition: 999 },
            } as never),
        ];
        await calls[call]!();
        const view = await engine.assemble({ ...session, messages: told, tokenBudget: 100_000 });
        expect(view.messages).toHaveLength(told.length);
        await engine.explain({ ...session, messages: told, tokenBudget: 100_000 });
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 2 },
    );
  });

  it("are kept by the library, and are found whole", async () => {
    await fc.assert(
      fc.asyncProperty(messages, async (told) => {
        const store = openMessageStore(":memory:");
        try {
          // Of one id, or one key, the first counts.
          const { added } = await store.ingest("s", told);
          const view = await store.assemble({ session: "s", tokenBudget: 100_000 });
          expect(view.messages).toHaveLength(added);
          await store.assemble({ session: "s", messages: told, tokenBudget: 100_000 });
          expect((await store.search({ query: "said", by: "relevance" })).found).toHaveLength(
            added,
          );
          expect((await store.verify()).faults).toEqual([]);
        } finally {
          store.close();
        }
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 2 },
    );
  });
});
