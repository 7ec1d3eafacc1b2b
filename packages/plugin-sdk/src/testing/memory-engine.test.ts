import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { UserMessage } from "../contract/message.ts";
import { estimateMessages } from "../tokens/message.ts";
import { pairToolCalls } from "../transcript/tool-pairs.ts";
import { createMemoryEngine } from "./memory-engine.ts";
import { conversation, user } from "./messages.ts";

/** Messages of one turn of the conversation below. */
const NEWEST_TURN = 5;

describe("createMemoryEngine", () => {
  it("keeps the newest messages that fit and always the newest turn, pairs whole, and leaves the input alone, at every budget", async () => {
    const messages = conversation({ turns: 12, tools: 2 });
    const given = structuredClone(messages);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 6000 }), async (tokenBudget) => {
        const view = await createMemoryEngine().assemble({
          sessionId: "s",
          messages,
          tokenBudget,
        });
        const { messages: kept, estimatedTokens, promptAuthority } = view;
        expect(kept).toEqual(messages.slice(messages.length - kept.length));
        expect(kept).toEqual(expect.arrayContaining(messages.slice(-NEWEST_TURN)));
        const fits = estimateMessages(kept).high <= tokenBudget;
        expect(promptAuthority).toBe(fits ? "assembled" : "preassembly_may_overflow");
        if (!fits) expect(kept).toHaveLength(NEWEST_TURN);
        expect(estimatedTokens).toBe(estimateMessages(kept).estimate);
        expect(pairToolCalls(kept)).toMatchObject({ unanswered: [], orphanResults: [] });
      }),
    );
    expect(messages).toEqual(given);
  });

  it("keeps the running request and what its tools returned, however small the budget", async () => {
    const running = conversation({ turns: 4, tools: 1 }).slice(0, -1);
    for (const tokenBudget of [0, 1, 50, Number.NaN])
      expect(
        (
          await createMemoryEngine().assemble({ sessionId: "s", messages: running, tokenBudget })
        ).messages.slice(-3),
      ).toEqual(running.slice(-3));
  });

  it("keeps everything without a budget", async () => {
    const messages = conversation({ turns: 3 });
    expect((await createMemoryEngine().assemble({ sessionId: "s", messages })).messages).toEqual(
      messages,
    );
  });

  it("remembers a message once per session, as it was when it came", async () => {
    const engine = createMemoryEngine();
    const message = user("hello");
    expect(await engine.ingest({ sessionId: "a", message })).toEqual({ ingested: true });
    expect(await engine.ingest({ sessionId: "a", message: { ...message } })).toEqual({
      ingested: false,
    });
    message.content = "changed later";
    expect(await engine.assemble({ sessionId: "a", messages: [] })).toMatchObject({
      messages: [user("hello")],
    });
    expect(await engine.assemble({ sessionId: "b", messages: [] })).toMatchObject({ messages: [] });
  });

  it("knows a message by its id, also when it was shortened, or by its key on a host without ids", async () => {
    const engine = createMemoryEngine();
    const ingest = (message: UserMessage) => engine.ingest({ sessionId: "1", message });
    expect(await ingest(user("x", { __openclaw: { id: "e" } }))).toEqual({ ingested: true });
    expect(await ingest(user("x, cut", { __openclaw: { id: "e" } }))).toEqual({ ingested: false });
    expect(await ingest(user("x", { __openclaw: { id: "f" } }))).toEqual({ ingested: true });
    expect(await ingest(user("y", { idempotencyKey: "k" }))).toEqual({ ingested: true });
    expect(await ingest(user("y again", { idempotencyKey: "k" }))).toEqual({ ingested: false });
  });

  it("does not bring the old conversation back when its key got a new session", async () => {
    const engine = createMemoryEngine();
    const message = user("my secret is 4711");
    await engine.ingest({ sessionId: "old", sessionKey: "k", message });
    expect(
      await engine.assemble({ sessionId: "new", sessionKey: "k", messages: [] }),
    ).toMatchObject({ messages: [] });
  });

  it("leaves compaction to the host, and says so when there is none", async () => {
    expect(await createMemoryEngine().compact({ sessionId: "s", sessionFile: "/s.jsonl" })).toEqual(
      {
        ok: false,
        compacted: false,
        code: "no-built-in",
        reason: "this host offers no built-in compaction",
      },
    );
  });
});
