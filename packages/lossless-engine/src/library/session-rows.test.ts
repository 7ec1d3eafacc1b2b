import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { behindReply, type Machine, seenOf, startMachine } from "../testing/machine.ts";
import { shareSessions } from "../testing/shared-sessions.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { openSessionRows, rowsBesides } from "./session-rows.ts";

const session = { sessionId: "s1", sessionKey: "agent:main:main" };
const SETTINGS = { summaries: "model" } as const;

const turnOf = (at: number, prefix: string): AgentMessage[] => {
  const call = toolCall("read", { path: `src/harbour${at}.ts` }, `${prefix}c${at}`);
  return [
    user(`Please mend the harbour lantern ${at}, which is dark since storm ${at % 7}.`),
    assistant([call]),
    toolResult(call, `lamp ${at} of the harbour, found in order. `.repeat(at % 5 === 0 ? 220 : 30)),
    assistant(`Lamp ${at} burns again, and the lantern is clean.`),
  ].map((message, place) =>
    withMessageId({ ...message, timestamp: 1e12 + at * 60_000 + place }, `${prefix}${at}.${place}`),
  );
};

/** A long session on a machine that shares nothing, with words that a model was asked for. */
async function live(machine: Machine, of = session, turns = 40) {
  const calls: string[] = [];
  let messages: AgentMessage[] = [];
  const maintain = () =>
    machine.engine.maintain?.({ ...of, runtimeContext: behindReply(calls) } as never);
  for (let at = 0; at < turns; at++) {
    const before = messages.length;
    messages = [...messages, ...turnOf(at, `${of.sessionId}-`)];
    const shown = messages.slice(0, before + 1);
    await machine.engine.assemble({ ...of, messages: shown, tokenBudget: 12_000 });
    await machine.engine.afterTurn?.({
      ...{ ...of, messages, prePromptMessageCount: before },
    } as never);
    if (at % 10 === 9) await maintain();
  }
  return { messages, calls, maintain };
}

const fileOf = ({ agentDir }: Machine) => join(agentDir, "clew-lossless", "lossless.db");

const apart = (agentDir: string, isMade = true) =>
  openSessionRows(join(agentDir, "clew-lossless", "lossless.db"), { agentDir, isMade });

/** A transcript of these messages, and rows, as a host keeps them. */
function keptBy(messages: readonly AgentMessage[], rows: readonly unknown[]) {
  const sessions = shareSessions();
  sessions.append("s1", messages);
  const host = sessions.machine();
  host.open("s1");
  const port = host.of(session, "lossless")!;
  return { ...port, load: async () => rows as never };
}

describe("rows of a session that is moved between files", () => {
  it("make a new file show and find the same, to the byte, and no model is asked again", async () => {
    const first = startMachine(undefined, SETTINGS);
    const { messages, calls } = await live(first);
    expect(calls.length).toBeGreaterThan(3);
    const asked = calls.length;
    const seen = await seenOf(first, { session, messages });
    const source = openSessionRows(fileOf(first), { agentDir: first.agentDir, isMade: false });
    const { rows, lastNumbers } = (await source.rowsOf(session))!;
    expect(lastNumbers.message).toBeGreaterThanOrEqual(messages.length);
    expect(JSON.stringify(rows)).not.toContain("found in order");
    source.close();

    const agentDir = temporaryFolder();
    const target = apart(agentDir);
    const port = keptBy(messages, rows);
    expect(await target.wouldTake(session, rows)).toBe("taken");
    expect(existsSync(join(agentDir, "clew-lossless"))).toBe(false);
    expect(await target.take(session, port)).toBe("taken");
    expect(await target.take(session, port)).toBe("same");
    expect(await target.wouldTake(session, rows)).toBe("same");
    expect((await target.rowsOf(session))!.rows).toEqual(rows);
    target.close();

    const second = startMachine(undefined, { ...SETTINGS, agentDir });
    expect(await seenOf(second, { session, messages })).toEqual(seen);
    await second.engine.ingestBatch?.({ ...session, messages });
    await second.engine.maintain?.({ ...session, runtimeContext: behindReply(calls) } as never);
    expect(calls.length).toBe(asked);
    expect(await seenOf(second, { session, messages })).toEqual(seen);
    expect((await verifyStore(second.stores.ofAgent())).faults).toEqual([]);
  });

  it("are found under the name that the session had when it was stored", async () => {
    const first = startMachine(undefined, SETTINGS);
    await live(first, session, 4);
    const file = openSessionRows(fileOf(first), { agentDir: first.agentDir, isMade: false });
    const archived = { ...session, sessionKey: "agent:main:archived:s1" };
    expect(await file.rowsOf(archived)).toEqual(await file.rowsOf(session));
    expect(await file.rowsOf({ ...session, sessionId: "s2" })).toBeNull();
    file.close();
  });

  it("stay apart where other sessions have their numbers, and nothing is changed", async () => {
    const [first, second] = [startMachine(undefined), startMachine(undefined)];
    const { messages } = await live(first, session, 4);
    const other = { sessionId: "s2", sessionKey: "agent:main:other" };
    const { messages: others } = await live(second, other, 4);
    const seen = await seenOf(second, { session: other, messages: others });
    const source = openSessionRows(fileOf(first), { agentDir: first.agentDir, isMade: false });
    const { rows } = (await source.rowsOf(session))!;
    source.close();
    const target = apart(second.agentDir);
    expect(await target.take(session, keptBy(messages, rows))).toBe("apart");
    expect(await target.rowsOf(session)).toBeNull();
    target.close();
    expect(await seenOf(second, { session: other, messages: others })).toEqual(seen);
  });

  it("are compared with what a host has: what it lacks, nothing, or that it has more", async () => {
    const first = startMachine(undefined, SETTINGS);
    const life = await live(first, session, 12);
    const source = openSessionRows(fileOf(first), { agentDir: first.agentDir, isMade: false });
    const before = (await source.rowsOf(session))!.rows;
    expect(rowsBesides(before, before)).toEqual([]);
    expect(rowsBesides(before, [])).toEqual(before);
    const more = turnOf(12, "s1-");
    await first.engine.ingestBatch?.({ ...session, messages: more });
    const now = (await source.rowsOf(session))!.rows;
    source.close();
    expect(rowsBesides(before, now)).toBeNull();
    const besides = rowsBesides(now, before)!;
    expect(besides.flatMap(({ body }) => JSON.parse(body!))).toHaveLength(4);
    expect(life.messages.map(messageId)).not.toContain(messageId(more[0]!));
  });

  it("need no file where nothing is kept, and make none", async () => {
    const agentDir = temporaryFolder();
    const file = apart(agentDir);
    expect(await file.rowsOf(session)).toBeNull();
    expect(await file.take(session, keptBy([], []))).toBe("same");
    file.close();
    const never = apart(agentDir, false);
    expect(await never.take(session, keptBy([], [{ kind: "place" }]))).toBe("same");
    expect(existsSync(join(agentDir, "clew-lossless"))).toBe(false);
  });
});
