// Tries sessions at machines that come and go while session files are read beside open ones.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { assistant, user } from "@clew/plugin-sdk/testing";
import { type TranscriptEntry, withMessageId } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { unreadBeside } from "../ingest/siblings.ts";
import { type Machine, startMachine } from "../testing/machine.ts";
import { type SharedSessions, shareSessions } from "../testing/shared-sessions.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { ownRows } from "./own-rows.ts";

const SESSIONS = ["a", "b"] as const;
type Id = (typeof SESSIONS)[number];
const refOf = (id: Id) => ({ sessionId: id, sessionKey: `agent:main:${id}` });

/** A session's messages, and its file wherever it was opened. */
class Session {
  readonly entries: TranscriptEntry[] = [];
  messages: AgentMessage[] = [];
  readonly id: Id;
  constructor(id: Id) {
    this.id = id;
  }
  said(sessions: SharedSessions): number {
    const at = this.messages.length;
    const added = [user(`Light the lantern ${at}.`), assistant(`Lantern ${at} burns.`)].map(
      (message, place) =>
        withMessageId({ ...message, timestamp: 1e12 + at + place }, `${this.id}${at + place}`),
    );
    const last = this.messages.at(-1);
    this.entries.push(...sessions.append(this.id, added, last && messageId(last)));
    this.messages = [...this.messages, ...added];
    return at;
  }
  fileIn(folder: string): string {
    const timestamp = "2026-01-01T00:00:00.000Z";
    const header = { type: "session", version: 3, cwd: "", timestamp };
    const { sessionId, sessionKey } = refOf(this.id);
    const lines = [{ ...header, id: sessionId, sessionKey }, ...this.entries];
    const path = join(folder, `${this.id}.jsonl`);
    writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
    return path;
  }
}

/** A machine that may be killed, and is started again in its folder. */
class Home {
  readonly agentDir = temporaryFolder();
  readonly folder = join(this.agentDir, "copies");
  readonly sessions: SharedSessions;
  rows: ReturnType<SharedSessions["machine"]>;
  machine: Machine;
  readonly open = new Set<Id>();
  constructor(sessions: SharedSessions) {
    mkdirSync(this.folder);
    this.sessions = sessions;
    [this.rows, this.machine] = this.start();
  }
  private start(): [ReturnType<SharedSessions["machine"]>, Machine] {
    const rows = this.sessions.machine();
    return [rows, startMachine(rows, { agentDir: this.agentDir })];
  }
  async restart(): Promise<void> {
    await this.machine.engine.dispose?.();
    this.open.clear();
    [this.rows, this.machine] = this.start();
  }
  async opens(session: Session): Promise<void> {
    if (this.open.has(session.id)) return;
    this.open.add(session.id);
    this.rows.open(session.id);
    const sessionFile = session.fileIn(this.folder);
    await this.machine.engine.bootstrap?.({ ...refOf(session.id), sessionFile });
  }
  async turn(session: Session): Promise<void> {
    const before = session.said(this.sessions);
    session.fileIn(this.folder);
    const { messages } = session;
    const of = refOf(session.id);
    const seen = messages.slice(0, before + 1);
    await this.machine.engine.assemble({ ...of, messages: seen, tokenBudget: 12_000 });
    await this.machine.engine.afterTurn?.({
      ...{ ...of, messages, prePromptMessageCount: before },
    } as never);
  }
  /** Which number each message has, and how often it is there. */
  async numbers(id: Id): Promise<[number, string][]> {
    const { stores } = this.machine;
    await unreadBeside(stores.ofAgent(), null);
    const own = ownRows(stores.ofAgent(), { ...refOf(id), owner: stores.owner });
    return [...(own?.shared.messages.values() ?? [])].map(({ seq, name }) => [seq, name]);
  }
}

/** What the machine's own database refused; a kill is none of it. */
const isOfStore = (error: unknown) =>
  error instanceof Error && error.cause instanceof Error && "errcode" in error.cause;

const step = fc.record({
  home: fc.nat({ max: 2 }),
  /** Those that are opened at the same time there. */
  sessions: fc.constantFrom<Id[]>(["a"], ["b"], ["a", "b"], ["b", "a"]),
  /** The second of them, ms later. */
  apart: fc.constantFrom(0, 2, 5),
  turns: fc.integer({ min: 0, max: 20 }),
  /** Somebody looks at all sessions there first: their files are as new as they can be. */
  looks: fc.boolean(),
  /** Calls until it is killed. */
  killedAfter: fc.option(fc.nat({ max: 12 }), { freq: 1 }),
  pauses: fc.array(fc.constantFrom(0, 0, 1, 3, 8), { minLength: 1, maxLength: 8 }),
});

describe("machines that are killed while others go on", () => {
  it("take sessions over without a fault, and give each message one number for all", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
        const sessions = shareSessions({ gaps: true });
        const homes = [0, 1, 2].map(() => new Home(sessions));
        const all = { a: new Session("a"), b: new Session("b") };
        for (const { home, sessions: ids, turns, looks, apart, killedAfter, pauses } of steps) {
          const at = homes[home]!;
          if (looks) for (const id of SESSIONS) all[id].fileIn(at.folder);
          let calls = 0;
          sessions.pause = async () => {
            const ms = pauses[calls % pauses.length]!;
            if (ms > 0) await sleep(ms);
          };
          let isKilled = false;
          sessions.fateOf = () => {
            isKilled ||= killedAfter !== null && calls >= killedAfter;
            if (calls++ === killedAfter) return "unknown";
            return isKilled ? "failed" : "done";
          };
          for (const other of homes) if (other !== at) for (const id of ids) other.open.delete(id);
          const lives = ids.map(async (id, place) => {
            if (place > 0) await sleep(apart);
            await at.opens(all[id]);
            for (let turn = 0; turn < turns && !isKilled; turn++) await at.turn(all[id]);
          });
          const outcomes = await Promise.allSettled(lives);
          for (const each of outcomes)
            if (each.status === "rejected" && (!isKilled || isOfStore(each.reason)))
              throw each.reason;
          if (killedAfter !== null) await at.restart();
        }
        [sessions.fateOf, sessions.pause] = [undefined, undefined];
        for (const id of SESSIONS) {
          const seen: unknown[] = [];
          for (const home of homes) {
            await home.restart();
            await home.opens(all[id]);
            seen.push(await home.numbers(id));
            expect((await verifyStore(home.machine.stores.ofAgent())).faults).toEqual([]);
          }
          expect(new Set((seen[0] as [number, string][]).map(([, name]) => name)).size).toBe(
            all[id].messages.length,
          );
          expect(seen[1]).toEqual(seen[0]);
          expect(seen[2]).toEqual(seen[0]);
        }
        for (const home of homes) await home.machine.engine.dispose?.();
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  }, 240_000);
});
