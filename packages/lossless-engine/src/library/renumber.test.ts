import type { EngineRow } from "@clew/plugin-sdk/core";
import { assistant, user } from "@clew/plugin-sdk/testing";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { sharedIn } from "../sharing/plan-sharing.ts";
import { behindReply, startMachine } from "../testing/machine.ts";
import { shareSessions } from "../testing/shared-sessions.ts";
import { numbersInRows, renumberedRows } from "./renumber.ts";

const session = { sessionId: "s1", sessionKey: "agent:main:main" };
const SETTINGS = { summaries: "model" } as const;
const FREE = { conversation: 70, message: 5_000, summary: 900 };

const messages = Array.from({ length: 120 }, (_, at) => {
  const text = `Lantern ${at} of the harbour. ${"It burns again, and is clean. ".repeat(30)}`;
  const message = at % 2 === 0 ? user(text) : assistant(text);
  return withMessageId({ ...message, timestamp: 1e12 + at * 60_000 }, `m${at}`);
});

async function sharedSession() {
  const sessions = shareSessions();
  sessions.append("s1", messages);
  const rows = sessions.machine();
  rows.open("s1");
  const { engine } = startMachine(rows, SETTINGS);
  const told = { ...session, messages, tokenBudget: 6_000 };
  await engine.ingestBatch!({ ...session, messages });
  await engine.assemble(told);
  await engine.maintain!({ ...session, runtimeContext: behindReply([]) } as never);
  return { sessions, all: sessions.rows("s1") };
}

const places = (rows: readonly EngineRow[]) =>
  [...sharedIn(rows).messages.values()].map(({ seq, name }) => [seq, name]);

describe("rows under other numbers", () => {
  it("say the same of the same messages, and a store takes them over whole", async () => {
    const { sessions, all } = await sharedSession();
    const { summaries } = numbersInRows(all);
    expect(summaries.length).toBeGreaterThan(0);
    const moved = renumberedRows(all, { known: [], free: FREE });
    expect(places(moved)).toEqual(messages.map((_, at) => [5_000 + at, `m${at}`]));
    expect(sharedIn(moved).conversation).toBe(70);
    const words = (rows: readonly EngineRow[]) =>
      [...sharedIn(rows).summaries.values()].map(({ words: said, asked, messages: many }) => [
        ...[said, asked, many],
      ]);
    expect(words(moved)).toEqual(words(all));
    const rows = sessions.machine();
    rows.open("s1");
    await rows
      .of(session, "lossless")!
      .store([...all.map((row) => ({ ...row, body: null })), ...moved]);
    const calls: string[] = [];
    const next = startMachine(rows, SETTINGS);
    await next.engine.assemble({ ...session, messages, tokenBudget: 6_000 });
    await next.engine.maintain!({ ...session, runtimeContext: behindReply(calls) } as never);
    expect(calls).toEqual([]);
    expect((await verifyStore(next.stores.ofAgent())).faults).toEqual([]);
    expect(places(sessions.rows("s1"))).toEqual(places(moved));
  });

  it("stay under them when they are copied again, and what is new comes behind", async () => {
    const { all } = await sharedSession();
    const isEarly = (row: EngineRow) => row.kind !== "summary";
    const earlier = all.filter(isEarly).map((row) => {
      if (row.kind !== "told") return row;
      return { ...row, body: JSON.stringify(JSON.parse(row.body!).slice(0, 100)) };
    });
    const first = renumberedRows(earlier, { known: [], free: FREE });
    const free = { conversation: 80, message: 9_000, summary: 950 };
    const second = renumberedRows(all, { known: first, free });
    expect(sharedIn(second).conversation).toBe(70);
    expect(places(second).slice(0, 100)).toEqual(places(first));
    expect(places(second).slice(100)[0]).toEqual([9_100, "m100"]);
    expect(renumberedRows(all, { known: second, free: FREE })).toEqual(second);
  });
});
