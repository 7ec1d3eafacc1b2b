// Lets replies end, and looks at what is left of them.
import { setImmediate as nextRound } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { createSessionGate } from "../../waiting/session-gate.ts";
import { createTurnLine } from "../../waiting/turn-line.ts";
import { createRepliesUnderWay } from "./under-way.ts";

const limits = { waitingMessages: 8, waitingBytes: 1_000_000, waitingTurns: 8, runningTurns: 2 };

function underWay() {
  return createRepliesUnderWay({
    limits,
    line: createTurnLine(() => limits.runningTurns),
    gate: createSessionGate(),
    backlog: () => 0,
    replyMs: 60_000,
  });
}

it("a reply that is over is let go of, whoever still listened to its end", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const replies = underWay();
  const begin = () => {
    const gone = new AbortController();
    const asked = { key: "agent:main:a", bytes: 10, isTurn: true, gone: gone.signal };
    const reply = replies.enter(asked);
    const held = Buffer.alloc(1000);
    reply.signal.addEventListener("abort", () => held.fill(1));
    reply.leave();
    return new WeakRef(held);
  };
  const held = begin();
  await nextRound();
  collect();
  expect(held.deref()).toBeUndefined();
});

it("a reply ends when its client goes, and when the gateway stops", () => {
  const replies = underWay();
  const gone = new AbortController();
  const enter = () =>
    replies.enter({ key: "agent:main:a", bytes: 10, isTurn: true, gone: gone.signal });
  const first = enter();
  gone.abort(new Error("The client went away."));
  expect(first.signal).toMatchObject({ aborted: true, reason: gone.signal.reason });
  const other = replies.enter({
    ...{ key: "agent:main:b", bytes: 10, isTurn: true },
    gone: new AbortController().signal,
  });
  replies.endAll();
  expect(other.signal).toMatchObject({ aborted: true, reason: { by: "stop" } });
});

const lasting = new AbortController().signal;

it("one that comes when the gateway stops already ends at once", () => {
  const replies = underWay();
  replies.endAll();
  const late = replies.enter({ key: "agent:main:a", bytes: 10, isTurn: true, gone: lasting });
  expect(late.signal).toMatchObject({ aborted: true, reason: { by: "stop" } });
});

it("those that wait are taken back alone, and those that run ended alone", async () => {
  for (const which of ["waiting", "running"] as const) {
    const replies = underWay();
    const enter = (isTurn: boolean) =>
      replies.enter({ key: "agent:main:a", bytes: 10, isTurn, gone: lasting });
    const running = [enter(true), enter(true)];
    await Promise.all(running.map((reply) => reply.granted()));
    const waiting = enter(true);
    expect(replies.cancel("agent:main:b", which)).toBe(false);
    expect(replies.cancel("agent:main:a", which)).toBe(true);
    for (const reply of running) expect(reply.signal.aborted).toBe(which === "running");
    expect(waiting.signal.aborted).toBe(which === "waiting");
  }
});

it("what is asked beside a session is not kept waiting by what runs in it", async () => {
  const gate = createSessionGate();
  const none = { ...limits, waitingTurns: 0 };
  const replies = createRepliesUnderWay({
    ...{ limits: none, gate, backlog: () => 0, replyMs: 60_000 },
    line: createTurnLine(() => limits.runningTurns),
  });
  const own = gate.enter("agent:main:a", "alone");
  await own.granted;
  const asked = { key: "agent:main:a", bytes: 10, gone: lasting };
  expect(() => replies.enter({ ...asked, isTurn: true })).toThrow(
    expect.objectContaining({ code: "BACKLOG_FULL" }),
  );
  const beside = replies.enter({ ...asked, isTurn: false });
  await beside.granted();
  beside.leave();
});

it("whoever waits for its session takes no place of others, nor does one that is over", async () => {
  const gate = createSessionGate();
  const replies = createRepliesUnderWay({
    ...{ limits, gate, backlog: () => 0, replyMs: 60_000 },
    line: createTurnLine(() => 1),
  });
  const enter = (key: string) => replies.enter({ key, bytes: 10, isTurn: true, gone: lasting });
  const own = gate.enter("agent:main:a", "alone");
  await own.granted;
  const held = enter("agent:main:a");
  const waiting = held.granted();
  const first = enter("agent:main:b");
  await first.granted();
  const second = enter("agent:main:c");
  first.leave();
  await second.granted();
  second.leave();
  own.leave();
  await waiting;
  held.leave();
});
