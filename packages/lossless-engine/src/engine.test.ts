import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AgentMessage, CommitTurnParams } from "@clew/plugin-sdk/core";
import { conversation, testEngine, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { pairToolCalls } from "@clew/plugin-sdk/transcript";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLosslessEngine } from "./engine.ts";
import { isOwn } from "./messages/own.ts";
import { useStore } from "./store/store.ts";
import { keepFromWriting } from "./testing/keep-from-writing.ts";
import { SESSION, startLife } from "./testing/life.ts";
import { conversationMessages, withIds } from "./testing/stored.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";
import { grep } from "./tools/grep.ts";

describe("in the lifecycle of engines that are told after each turn", () =>
  testEngine({ test: it, create: createLosslessEngine }));

describe("in the lifecycle of committed turns", () =>
  testEngine({
    test: it,
    create: (context) => createLosslessEngine(context, { durableTurns: true }),
  }));

const session = { sessionId: "s1", sessionKey: "agent:main:main" };
const databaseOf = (agentDir: string) => join(agentDir, "clew-lossless", "lossless.db");

function storedIn(agentDir: string, of = session): AgentMessage[] {
  const { store, release } = useStore(databaseOf(agentDir));
  try {
    return conversationMessages(store, { ...of, owner: ".." });
  } finally {
    release();
  }
}

const commitOf = (number: number, messages: AgentMessage[]): CommitTurnParams => {
  const anchor = {
    ...session,
    ...{ agentId: "main", generation: 1, entryId: "e", rawSeq: 0, effectiveParentId: null },
    activeMessagePosition: 0,
  };
  const advancementKey = `turn-${number}`;
  return {
    ...session,
    ...{ advancementKey, messages, terminal: anchor },
    admission: { ...anchor, logicalTurnId: advancementKey, role: "user" },
  };
};

describe("in a host that makes and disposes an engine every turn, keeps no file and hands views back", () => {
  it("every turn is kept once, whole, and views keep to the budget with their calls in pairs", async () => {
    const agentDir = temporaryFolder();
    const told: AgentMessage[] = [];
    const history: AgentMessage[] = [];
    for (let number = 0; number < 30; number++) {
      const engine = createLosslessEngine({ agentDir });
      expect(
        (await engine.bootstrap!({ ...session, sessionFile: "agent:main:main" })).bootstrapped,
      ).toBe(false);
      const call = toolCall("read", { path: `src/part${number}.ts` }, "read:1");
      const turn = withIds(
        [
          user(`look at part${number}`),
          { role: "assistant", content: [call], stopReason: "toolUse" },
          toolResult(call, `text of part${number} `.repeat(200), {
            details: { whole: "x".repeat(500) },
          }),
          {
            role: "assistant",
            content: [{ type: "text", text: `seen part${number}` }],
            stopReason: "stop",
          },
        ],
        `t${number}-`,
      );
      const first = await engine.assemble({
        ...session,
        messages: [...history],
        tokenBudget: 12_000,
      });
      // In the loop it is given its own view, without what people only see, and the running turn.
      const shown = structuredClone([...first.messages, ...turn.slice(0, 3)]);
      for (const message of shown) if (message.role === "toolResult") delete message.details;
      const loop = await engine.assemble({ ...session, messages: shown, tokenBudget: 16_000 });
      for (const { messages, promptAuthority } of [first, loop]) {
        expect(promptAuthority).toBeUndefined();
        expect(estimateMessages(messages).high).toBeLessThanOrEqual(16_000);
        expect(pairToolCalls(messages).orphanResults).toEqual([]);
        expect(messages.filter(isOwn).length).toBeLessThanOrEqual(1);
      }
      // Every fifth turn fails: it stays in the history and is never committed.
      const isCommitted = number % 5 !== 4;
      if (isCommitted) {
        expect(await engine.commitTurn!(commitOf(number, turn))).toEqual({ status: "committed" });
        expect(await engine.commitTurn!(commitOf(number, turn))).toEqual({ status: "duplicate" });
      }
      history.push(...(isCommitted ? turn : turn.slice(0, 1)));
      told.push(...turn.slice(0, isCommitted ? 4 : 3));
      await engine.dispose!();
    }
    const ids = (messages: readonly AgentMessage[]) => messages.map((one) => one.__openclaw?.id);
    const stored = storedIn(agentDir);
    expect(ids(stored)).toEqual(ids(told));
    // Whole, although it was first seen without its details.
    for (const message of stored.filter((_, index) => Math.floor(index / 4) % 5 < 4))
      if (message.role === "toolResult" && !isFailed(message))
        expect(message.details).toEqual({ whole: "x".repeat(500) });
  });

  it("a key that comes again with other messages is refused, and takes nothing away", async () => {
    const agentDir = temporaryFolder();
    const engine = createLosslessEngine({ agentDir });
    onTestFinished(() => engine.dispose?.());
    const [one, other] = [withIds([user("one")], "a"), withIds([user("other")], "b")];
    await engine.commitTurn!(commitOf(1, one));
    await expect(engine.commitTurn!(commitOf(1, [...one, ...other]))).rejects.toThrow(
      /^The lossless engine did not commit a turn: its key "turn-1" is that of an earlier turn, and b0 was not in it;/,
    );
    expect(await engine.commitTurn!(commitOf(2, other))).toEqual({ status: "committed" });
    expect(await engine.commitTurn!(commitOf(2, other))).toEqual({ status: "duplicate" });
    expect(storedIn(agentDir)).toEqual([...one, ...other]);
  });

  it("a record that quotes half of a character is the same in each view", async () => {
    const agentDir = temporaryFolder();
    const engine = createLosslessEngine({ agentDir });
    onTestFinished(() => engine.dispose?.());
    const messages = withIds([
      user("You must never delete the file a\ud83d.txt, whatever happens."),
      ...conversation({ turns: 80, tools: 1, toolResultChars: 900 }),
    ]);
    await engine.ingestBatch!({ ...session, messages });
    const view = async () =>
      (await engine.assemble({ ...session, messages, tokenBudget: 12_000 })).messages[0];
    const first = await view();
    expect(JSON.stringify(first)).toContain("a\ufffd.txt");
    expect(await view()).toEqual(first);
  });

  it("a compaction without a file makes the next view smaller, and stays after a restart", async () => {
    const agentDir = temporaryFolder();
    const messages = withIds(conversation({ turns: 40, tools: 1, toolResultChars: 900 }));
    const engine = createLosslessEngine({ agentDir });
    await engine.ingestBatch!({ ...session, messages });
    const sizeOf = async (of: ReturnType<typeof createLosslessEngine>) =>
      estimateMessages((await of.assemble({ ...session, messages, tokenBudget: 200_000 })).messages)
        .estimate;
    const before = await sizeOf(engine);
    const { compacted, result } = await engine.compact({
      ...session,
      tokenBudget: 48_000,
      force: true,
    });
    expect([compacted, result!.tokensAfter! < result!.tokensBefore]).toEqual([true, true]);
    const after = await sizeOf(engine);
    expect(after).toBeLessThan(before / 2);
    await engine.dispose!();
    const again = createLosslessEngine({ agentDir });
    onTestFinished(() => again.dispose?.());
    expect(await sizeOf(again)).toBe(after);
  });
});

const isFailed = ({ __openclaw }: AgentMessage) => /^t(4|9|14|19|24|29)-/.test(__openclaw!.id!);

describe("where the database cannot be used", () => {
  it("a turn is told again and stored, once nobody else is writing", async () => {
    const agentDir = temporaryFolder();
    const engine = createLosslessEngine({ agentDir });
    onTestFinished(() => engine.dispose?.());
    const messages = withIds(conversation({ turns: 2 }));
    await engine.ingestBatch!({ ...session, messages: messages.slice(0, 2) });
    const other = new DatabaseSync(databaseOf(agentDir));
    other.exec("BEGIN IMMEDIATE");
    // It has been refused once when the call gives its promise.
    const late = engine.ingestBatch!({ ...session, messages });
    other.exec("COMMIT");
    expect(await late).toEqual({ ingestedCount: 2 });
    other.close();
    expect(storedIn(agentDir)).toEqual(messages);
  });

  it("a compaction says that nothing was compacted, and one that says it was is in the next view", async () => {
    const agentDir = temporaryFolder();
    const engine = createLosslessEngine({ agentDir });
    onTestFinished(() => engine.dispose?.());
    const messages = withIds(conversation({ turns: 40, tools: 1, toolResultChars: 900 }));
    await engine.ingestBatch!({ ...session, messages });
    const shown = async () =>
      (await engine.assemble({ ...session, messages, tokenBudget: 100_000 })).messages.length;
    const other = new DatabaseSync(databaseOf(agentDir));
    other.exec("BEGIN IMMEDIATE");
    const compact = { ...session, force: true, tokenBudget: 50_000 };
    expect(await engine.compact(compact)).toMatchObject({
      ...{ ok: false, compacted: false, code: "not-written" },
      reason: expect.stringMatching(/another program is writing to it/),
    });
    other.exec("ROLLBACK");
    other.close();
    expect(await shown()).toBe(messages.length);
    expect(await engine.compact(compact)).toMatchObject({ ok: true, compacted: true });
    expect(await shown()).toBeLessThan(messages.length);
  });

  it("a search goes through what the index has, and says what it lacks", async () => {
    const { agentDir, tell } = startLife();
    await tell(withIds([user("the giraffe is here")]));
    const { store, release } = useStore(databaseOf(agentDir));
    const answer = async () =>
      JSON.stringify(
        await grep(store, { pattern: "giraffe" }, { callId: "c", session: SESSION, scope: null }),
      );
    // Whoever searches waits for the index.
    expect(await answer()).toMatch(/1 found/);
    await tell(withIds([user("another giraffe")], "later"));
    const other = new DatabaseSync(databaseOf(agentDir));
    other.exec("BEGIN IMMEDIATE");
    const locked = await answer();
    other.exec("ROLLBACK");
    other.close();
    expect(locked).toMatch(/1 found.*the giraffe is here.*Not searched: the newest 1,/);
    expect(await answer()).toMatch(/2 found.*All 2 messages were searched/);
    release();
  });

  it("a database that cannot be written is read, and written again once it can be", async () => {
    const { agentDir, engine, tell, stored } = startLife();
    const messages = withIds([user("before"), user("behind")]);
    await tell(messages.slice(0, 1));
    await engine.dispose!();
    const free = keepFromWriting(databaseOf(agentDir));
    await expect(tell(messages)).rejects.toThrow(/read-only; make the file and its folder/);
    expect(stored().map(({ message }) => message)).toEqual(messages.slice(0, 1));
    free();
    expect(await tell(messages)).toBe(1);
  });

  it("what was left read-only beside a database is not, once that can be written", async () => {
    const { agentDir, engine, tell } = startLife();
    await tell(withIds([user("before")]));
    await engine.dispose!();
    writeFileSync(`${databaseOf(agentDir)}-shm`, "", { mode: 0o444 });
    expect(await tell(withIds([user("behind")], "n"))).toBe(1);
  });

  it("a view is shown all the same, and storing says why it failed", async () => {
    const agentDir = temporaryFolder();
    const engine = createLosslessEngine({ agentDir });
    onTestFinished(() => engine.dispose?.());
    const messages = withIds(conversation({ turns: 60, tools: 1, toolResultChars: 900 }));
    await engine.ingestBatch!({ ...session, messages: messages.slice(0, 4) });
    await engine.dispose!();
    keepFromWriting(databaseOf(agentDir));
    await expect(engine.ingestBatch!({ ...session, messages })).rejects.toThrow(/read-only/);
    const view = await engine.assemble({ ...session, messages, tokenBudget: 12_000 });
    expect(isOwn(view.messages[0]!)).toBe(true);
  });
});

describe("a session", () => {
  it("that is ignored leaves nothing, and one without state leaves nothing in the database", async () => {
    const agentDir = temporaryFolder();
    const engine = createLosslessEngine(
      { agentDir },
      { ignoreSessionPatterns: ["agent:*:cron:**"], statelessSessionPatterns: ["agent:*:sub"] },
    );
    onTestFinished(() => engine.dispose?.());
    const messages = withIds(conversation({ turns: 60, tools: 1, toolResultChars: 900 }));
    const cron = { sessionId: "c", sessionKey: "agent:main:cron:daily:1" };
    const sub = { sessionId: "u", sessionKey: "agent:main:sub" };
    for (const of of [cron, sub]) await engine.ingestBatch!({ ...of, messages });
    const [ignored, passing] = [
      await engine.assemble({ ...cron, messages, tokenBudget: 12_000 }),
      await engine.assemble({ ...sub, messages, tokenBudget: 12_000 }),
    ];
    expect(ignored.messages).toEqual(messages);
    expect(isOwn(passing.messages[0]!)).toBe(true);
    expect((await engine.compact({ ...cron, sessionFile: "c.jsonl" })).reason).toBe(
      "this host offers no built-in compaction",
    );
    await engine.ingestBatch!({ ...session, messages: messages.slice(0, 2) });
    expect([storedIn(agentDir, cron), storedIn(agentDir, sub)]).toEqual([[], []]);
    expect(storedIn(agentDir)).toHaveLength(2);
  });
});
