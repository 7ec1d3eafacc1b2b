import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameOf } from "../messages/name.ts";
import { temporaryStore, withIds } from "../testing/stored.ts";
import { viewOf } from "./assemble.ts";
import { compactView, tellFocus } from "./compact.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };

describe("a compaction in a host that asks for a view once per turn", () => {
  it("makes a view fit that nobody asked for in a turn, however much the turn brought", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 6_000, max: 40_000 }),
        fc.array(fc.double({ min: 0.02, max: 0.5, noNaN: true }), { minLength: 1, maxLength: 4 }),
        async (tokenBudget, shares) => {
          const store = temporaryStore();
          const ask = (messages: readonly AgentMessage[]) =>
            viewOf(store, { session, messages, tokenBudget });
          const history: AgentMessage[] = [];
          // As full as a view gets before it is cut.
          for (let step = 0; ; step++) {
            const call = toolCall("read", { path: `src/part${step}.ts` }, `full${step}`);
            const more = [user(`Read part ${step}.`), assistant([call])];
            const read = toolResult(call, `part ${step} of it `.repeat(tokenBudget / 500));
            const next = withIds([...more, read, assistant("Read.")], `f${step}-`);
            if ((await ask([...history, ...next])).record !== null) break;
            history.push(...next);
          }
          expect(estimateMessages(history).estimate).toBeGreaterThan(0.6 * tokenBudget);
          const request = withIds([user("Now all the others.")], "request")[0]!;
          history.push(request);
          expect((await ask(history)).tokens.high).toBeLessThanOrEqual(tokenBudget);
          for (const [step, share] of shares.entries()) {
            const call = toolCall("read", { path: `src/more${step}.ts` }, `more${step}`);
            const text = "what stands in it ".repeat((share * tokenBudget) / 4);
            history.push(...withIds([assistant([call]), toolResult(call, text)], `m${step}-`));
          }
          await compactView(store, { session, messages: history, tokenBudget, isOverflow: true });
          const { items, tokens } = await ask(history);
          const messages = items.map(({ message }) => message);
          expect(tokens.high).toBeLessThanOrEqual(tokenBudget);
          expect(messages).toContain(request);
          expect(messages.map(nameOf)).toContain(nameOf(history.at(-1)!));
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });
});

it("a focus that no summary can have is said to be dropped, where something was compacted", () => {
  const done = { ok: true, compacted: true };
  expect(tellFocus(done, "the birds").reason).toContain("without the focus");
  expect(tellFocus({ ...done, reason: "so" }, "the birds").reason).toMatch(
    /^so; without the focus/,
  );
  for (const focus of [undefined, "", " "]) expect(tellFocus(done, focus)).toBe(done);
  const nothing = { ok: true, compacted: false, reason: "nothing was said" };
  expect(tellFocus(nothing, "the birds")).toBe(nothing);
});
