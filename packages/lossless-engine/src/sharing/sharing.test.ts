import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { named } from "../messages/name.ts";
import { storeMessages } from "../store/messages.ts";
import type { Store } from "../store/store.ts";
import { behindReply, type Machine, seenOf, startMachine } from "../testing/machine.ts";
import { type Fate, type SharedSessions, shareSessions } from "../testing/shared-sessions.ts";
import { planSharing, sharedIn } from "./plan-sharing.ts";
import { takeOver } from "./take-over.ts";

const session = { sessionId: "s1", sessionKey: "agent:main:main" };
const other = { sessionId: "s2", sessionKey: "agent:main:other" };
const SETTINGS = { summaries: "model" } as const;

const turnOf = (at: number, prefix = "e"): AgentMessage[] => {
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

/** A session that goes on at whichever machine has it. */
class Life {
  readonly of: typeof session;
  readonly sessions: SharedSessions | undefined;
  messages: AgentMessage[] = [];
  turns = 0;
  tokenBudget = 12_000;
  readonly calls: string[] = [];
  constructor(of: typeof session, sessions?: SharedSessions) {
    this.of = of;
    this.sessions = sessions;
  }

  async turn({ engine }: Machine, at = this.turns): Promise<void> {
    this.turns++;
    const before = this.messages.length;
    const added = turnOf(at, `${this.of.sessionId}-`);
    this.messages = [...this.messages, ...added];
    this.sessions?.append(
      this.of.sessionId,
      added,
      before === 0 ? undefined : messageId(this.messages[before - 1]!),
    );
    const budget = { tokenBudget: this.tokenBudget };
    await engine.assemble({ ...this.of, messages: this.messages.slice(0, before + 1), ...budget });
    await engine.afterTurn?.({
      ...{ ...this.of, messages: this.messages, prePromptMessageCount: before },
    } as never);
  }
  maintain({ engine }: Machine) {
    return engine.maintain?.({ ...this.of, runtimeContext: behindReply(this.calls) } as never);
  }
  compact({ engine }: Machine) {
    return engine.compact({ ...this.of, tokenBudget: 12_000, force: true } as never);
  }
  /** Goes back to an earlier message, as a person who asks again. */
  goBack(turns: number): void {
    this.messages = this.messages.slice(0, Math.max(4, this.messages.length - 4 * turns));
  }
  seen(machine: Machine) {
    return seenOf(machine, { session: this.of, messages: this.messages });
  }
}

/** Shows where two differ, and not all that is the same. */
function same(seen: readonly string[], expected: readonly string[]): void {
  const at = seen.findIndex((each, place) => each !== expected[place]);
  const from = (text = "") =>
    [...text].findIndex((char, place) => char !== [...(expected[at] ?? "")][place]);
  const start = at < 0 ? 0 : Math.max(0, from(seen[at]) - 200);
  const part = (all: readonly string[]) => `${at}: ${(all[at] ?? "").slice(start, start + 500)}`;
  expect(part(seen)).toBe(part(expected));
  expect(seen.length).toBe(expected.length);
}

const isWhole = async ({ stores }: Machine) =>
  expect((await verifyStore(stores.ofAgent())).faults).toEqual([]);

describe("a session that comes to another machine", () => {
  it("is shown and found as at the first, to the byte, and no model is asked again", async () => {
    const sessions = shareSessions({ gaps: true });
    const [one, two] = [sessions.machine(), sessions.machine()];
    one.open("s1");
    const first = startMachine(one, SETTINGS);
    const life = new Life(session, sessions);
    for (let turn = 0; turn < 40; turn++) {
      await life.turn(first);
      if (turn % 10 === 9) await life.maintain(first);
      if (turn === 25) await life.compact(first);
    }
    const calls = life.calls.length;
    expect(calls).toBeGreaterThan(3);
    const seen = await life.seen(first);
    await life.maintain(first);
    const asked = life.calls.length;

    two.open("s1");
    const second = startMachine(two, SETTINGS);
    same(await life.seen(second), seen);
    await life.maintain(second);
    expect(life.calls.length).toBe(asked);
    same(await life.seen(second), seen);
    await isWhole(second);
    // What was told already is not there twice when the host tells it all.
    await second.engine.ingestBatch?.({ ...session, messages: life.messages });
    same(await life.seen(second), seen);

    // On at the second, and back: the first takes over what it missed.
    for (let turn = 0; turn < 8; turn++) await life.turn(second);
    await life.maintain(second);
    const later = await life.seen(second);
    one.open("s1");
    same(await life.seen(first), later);
    await isWhole(first);
  });

  it("keeps its numbers where others of the second machine came first", async () => {
    const sessions = shareSessions({ gaps: true });
    const [one, two] = [sessions.machine(), sessions.machine()];
    const [first, second] = [startMachine(one, SETTINGS), startMachine(two, SETTINGS)];
    const [mine, yours] = [new Life(session, sessions), new Life(other, sessions)];
    one.open("s1");
    two.open("s2");
    for (let turn = 0; turn < 20; turn++) {
      await mine.turn(first);
      await yours.turn(second);
    }
    const [seen, others] = [await mine.seen(first), await yours.seen(second)];
    two.open("s1");
    same(await mine.seen(second), seen);
    same(await yours.seen(second), others);
    one.open("s2");
    same(await yours.seen(first), others);
    for (const machine of [first, second]) await isWhole(machine);
    await mine.turn(second);
    await yours.turn(first);
    for (const machine of [first, second]) await isWhole(machine);
  });

  it("is told of what left its branch, and of turns by their keys", async () => {
    const sessions = shareSessions({ gaps: true });
    const [one, two] = [sessions.machine(), sessions.machine()];
    one.open("s1");
    const settings = { ...SETTINGS, durableTurns: true };
    const first = startMachine(one, settings);
    const life = new Life(session, sessions);
    for (let turn = 0; turn < 12; turn++) await life.turn(first);
    life.goBack(3);
    for (let turn = 0; turn < 3; turn++) await life.turn(first);
    const messages = turnOf(99, "k");
    sessions.append("s1", messages);
    const commit = {
      ...{ ...session, advancementKey: "turn-\0-key", messages },
      ...{ admission: { activeMessagePosition: 0 }, terminal: { activeMessagePosition: 9 } },
    } as never;
    expect(await first.engine.commitTurn?.(commit)).toEqual({ status: "committed" });
    const seen = await life.seen(first);
    expect(seen.join()).toContain("on a branch that was left");
    two.open("s1");
    const second = startMachine(two, settings);
    same(await life.seen(second), seen);
    expect(await second.engine.commitTurn?.(commit)).toEqual({ status: "duplicate" });
    await isWhole(second);
  });
});

describe("a session that was begun anew", () => {
  it("has what it said before at the next machine, too", async () => {
    const sessions = shareSessions({ gaps: true });
    const [one, two] = [sessions.machine(), sessions.machine()];
    one.open("s1");
    const first = startMachine(one, SETTINGS);
    const before = new Life(session, sessions);
    for (let turn = 0; turn < 10; turn++) await before.turn(first);
    await before.maintain(first);
    one.open("s3");
    const life = new Life({ ...session, sessionId: "s3" }, sessions);
    for (let turn = 0; turn < 6; turn++) await life.turn(first, 50 + turn);
    const seen = await life.seen(first);
    expect(seen.join()).toContain("Before it was begun anew the session said #1-#40");
    two.open("s3");
    const second = startMachine(two, SETTINGS);
    same(await life.seen(second), seen);
    await isWhole(second);
  });
});

/** What may happen to a session; numbers say how much. */
const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("turns"), many: fc.integer({ min: 1, max: 6 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("back"), many: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("maintain"), many: fc.constant(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact"), many: fc.constant(1) }) },
);
const step = fc.record({ operation, moves: fc.constantFrom("stays", "new", "back") });

describe("whatever happens to a session", () => {
  it("it is the same at machines that take it over as where it never moves", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        // Without gaps both give the same numbers, as the session is alone.
        const sessions = shareSessions();
        const alone = startMachine(undefined, SETTINGS);
        const [stays, moves] = [new Life(session), new Life(session, sessions)];
        const machines = [newMachine(sessions)];
        let at = machines[0]!;
        for (const { operation: done, moves: where } of steps) {
          if (where === "new") machines.unshift(newMachine(sessions));
          if (where !== "stays") {
            at = machines[where === "back" ? machines.length - 1 : 0]!;
            at.rows.open("s1");
          }
          for (const [life, machine] of [
            [stays, alone],
            [moves, at.machine],
          ] as const) {
            if (done.kind === "back") life.goBack(done.many);
            if (done.kind === "maintain") await life.maintain(machine);
            if (done.kind === "compact") await life.compact(machine);
            for (let turn = 0; turn < done.many && done.kind === "turns"; turn++)
              await life.turn(machine);
          }
        }
        same(await moves.seen(at.machine), await stays.seen(alone));
        expect(moves.calls).toEqual(stays.calls);
        await isWhole(at.machine);
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 10 },
    );
  });

  it("nothing is lost or doubled where the database fails, or does not say, at any call", async () => {
    for (const fate of ["failed", "unknown"] as Fate[])
      for (let call = 0; ; call++) {
        const sessions = shareSessions();
        const first = newMachine(sessions);
        const life = new Life(session, sessions);
        life.tokenBudget = 5_000;
        let calls = 0;
        const script = async () => {
          for (let turn = 0; turn < 6; turn++) await life.turn(first.machine);
          await life.maintain(first.machine);
          await life.turn(first.machine);
        };
        sessions.fateOf = () => (calls++ === call ? fate : "done");
        // A host tells again what an engine could not take.
        await script().catch(() => {});
        const isOver = calls <= call;
        sessions.fateOf = undefined;
        await first.machine.engine.ingestBatch?.({ ...session, messages: life.messages });
        const seen = await life.seen(first.machine);
        const second = newMachine(sessions);
        same(await life.seen(second.machine), seen);
        expect(await second.machine.engine.storedMessages(session)).toHaveLength(
          life.messages.length,
        );
        await isWhole(second.machine);
        if (isOver) expect(sessions.rows("s1").map(({ kind }) => kind)).toContain("cut");
        await second.machine.engine.dispose?.();
        await first.machine.engine.dispose?.();
        if (isOver) break;
      }
  }, 120_000);

  it("a machine that ends before it shared what it made goes on with it, or another makes it anew", async () => {
    for (let call = 0; ; call++) {
      const sessions = shareSessions();
      const first = newMachine(sessions);
      const life = new Life(session, sessions);
      life.tokenBudget = 5_000;
      let calls = 0;
      sessions.fateOf = (kind) => (kind === "store" && calls++ >= call ? "failed" : "done");
      for (let turn = 0; turn < 6; turn++) await life.turn(first.machine);
      await life.maintain(first.machine);
      await first.machine.engine.dispose?.();
      const isOver = calls <= call;
      sessions.fateOf = undefined;
      const second = newMachine(sessions);
      await second.machine.engine.ingestBatch?.({ ...session, messages: life.messages });
      expect(await second.machine.engine.storedMessages(session)).toHaveLength(
        life.messages.length,
      );
      const seen = await life.seen(second.machine);
      await isWhole(second.machine);
      // The first, in its folder: what it had is not beside what the other made.
      first.rows.open("s1");
      const again = startMachine(first.rows, { ...SETTINGS, agentDir: first.machine.agentDir });
      same(await life.seen(again), seen);
      await isWhole(again);
      if (isOver) break;
    }
  }, 120_000);
});

describe("taking a session over", () => {
  async function longSession() {
    const sessions = shareSessions({ gaps: true });
    const first = newMachine(sessions);
    const life = new Life(session, sessions);
    for (let turn = 0; turn < 24; turn++) await life.turn(first.machine);
    await life.maintain(first.machine);
    const seen = await life.seen(first.machine);
    return { sessions, life, seen };
  }

  it("is begun again after any of its calls failed, and shows what there is meanwhile", async () => {
    const { sessions, life, seen } = await longSession();
    for (let call = 0; ; call++) {
      let calls = 0;
      const { machine } = newMachine(sessions);
      const view = { ...session, messages: life.messages, tokenBudget: 12_000 };
      sessions.fateOf = () => (calls++ === call ? "failed" : "done");
      expect((await machine.engine.assemble(view)).messages.length).toBeGreaterThan(1);
      const isOver = calls <= call;
      sessions.fateOf = undefined;
      same(await life.seen(machine), seen);
      await isWhole(machine);
      await machine.engine.dispose?.();
      if (isOver) break;
    }
  });

  it("is begun again by the next process where its own was killed between two changes", async () => {
    const { sessions, life, seen } = await longSession();
    const before = sessions.rows("s1");
    for (let killedAt = 0; ; killedAt++) {
      const { rows, machine } = newMachine(sessions);
      const store = machine.stores.ofAgent();
      let changes = 0;
      const killed: Store = {
        ...store,
        change(make) {
          if (changes++ === killedAt) throw new Error("killed");
          return store.change(make);
        },
      };
      const shared = sharedIn(before);
      const plan = planSharing(shared, sharedIn([])) as Parameters<typeof takeOver>[2]["plan"];
      const port = rows.of(session, "lossless")!;
      const request = { port, plan, shared, conversation: shared.conversation! };
      const owned = { ...session, owner: machine.stores.owner };
      const isOver = await takeOver(killed, owned, request).then(
        () => true,
        () => false,
      );
      await machine.engine.dispose?.();
      rows.open("s1");
      const again = startMachine(rows, { ...SETTINGS, agentDir: machine.agentDir });
      same(await life.seen(again), seen);
      await isWhole(again);
      expect(sessions.rows("s1")).toEqual(before);
      await again.engine.dispose?.();
      if (isOver) break;
    }
  });

  it("goes by what is shared where the same messages are stored under other numbers meanwhile", async () => {
    const { sessions, life, seen } = await longSession();
    const { machine } = newMachine(sessions);
    const store = machine.stores.ofAgent();
    const owned = { ...session, owner: machine.stores.owner };
    sessions.pause = async (call) => {
      if (call !== "lines") return;
      sessions.pause = undefined;
      // Another program of this machine reads the session's file.
      const messages = life.messages.map(named);
      await Promise.resolve().then(() => {
        storeMessages(store, { session: owned, messages, from: "told" });
      });
    };
    const before = sessions.rows("s1");
    same(await life.seen(machine), seen);
    await isWhole(machine);
    expect(sessions.rows("s1")).toEqual(before);
  });

  it("goes by the first of two numbers that are shared of one message, and lets go of the other", async () => {
    const { sessions, life, seen } = await longSession();
    const { rows, machine } = newMachine(sessions);
    const [message] = sharedIn(sessions.rows("s1")).messages.values();
    const second = { ...message!, seq: 1_000_000 };
    await rows
      .of(session, "lossless")!
      .store([{ kind: "message", key: "1000000", body: JSON.stringify(second) }]);
    same(await life.seen(machine), seen);
    await life.turn(machine);
    await isWhole(machine);
    expect(sessions.rows("s1").find(({ key }) => key === "1000000")?.body).toContain("isGone");
    const third = newMachine(sessions);
    same(await life.seen(third.machine), await life.seen(machine));
  });

  it("makes anew, for all, a session of which rows that nobody can use are shared, and says so", async () => {
    for (const body of ["{", "null", '{"id":1,"first":"x"}', '[["a"]]']) {
      const { sessions, life } = await longSession();
      const rows = sessions.machine();
      rows.open("s1");
      const kinds = sessions.rows("s1").map(({ kind, key }) => ({ kind, key, body }));
      await rows.of(session, "lossless")!.store(kinds.filter(({ kind }) => kind !== "place"));
      const told: unknown[] = [];
      const onUnusable = (of: object) => void told.push(of);
      const machine = startMachine(rows, { ...SETTINGS, onUnusable });
      await machine.engine.ingestBatch?.({ ...session, messages: life.messages });
      expect(await machine.engine.storedMessages(session)).toHaveLength(life.messages.length);
      await life.turn(machine);
      const seen = await life.seen(machine);
      await isWhole(machine);
      expect(told).toEqual([expect.objectContaining(session)]);
      const next = newMachine(sessions);
      same(await life.seen(next.machine), seen);
    }
  });

  it("leaves alone what other sessions have, where their numbers are the same", async () => {
    // Both machines stood alone first.
    const [one, two] = [shareSessions(), shareSessions()];
    const [first, second] = [newMachine(one), two.machine()];
    second.open("s2");
    const [mine, yours] = [new Life(session, one), new Life(other, two)];
    const machine = startMachine(second, SETTINGS);
    for (let turn = 0; turn < 8; turn++) {
      await mine.turn(first.machine);
      await yours.turn(machine);
    }
    const others = await yours.seen(machine);
    await machine.engine.dispose?.();
    const later = newMachine(one);
    const again = startMachine(later.rows, { ...SETTINGS, agentDir: machine.agentDir });
    const before = one.rows("s1");
    await again.engine.ingestBatch?.({ ...session, messages: mine.messages });
    expect(await again.engine.storedMessages(session)).toHaveLength(mine.messages.length);
    await mine.turn(again);
    same(await yours.seen(again), others);
    expect(one.rows("s1")).toEqual(before);
    await isWhole(again);
  });
});

function newMachine(sessions: SharedSessions) {
  const rows = sessions.machine();
  rows.open("s1");
  return { rows, machine: startMachine(rows, SETTINGS) };
}
