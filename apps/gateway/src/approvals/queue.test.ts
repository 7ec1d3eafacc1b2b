import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { collectLog } from "../testing/plugins.ts";
import type { Approval, ApprovalEnd, ApprovalRequest } from "./approval.ts";
import { createGrantFiles } from "./grants.ts";
import { createApprovals, type Watcher } from "./queue.ts";

const requestOf = (more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  asker: { kind: "tool", id: "gateway" },
  session: { agentId: "main", sessionKey: "agent:main:main" },
  name: "write",
  arguments: { path: "a.txt" },
  ...more,
});

async function queueIn(home: string, { expireMs = 60_000 } = {}) {
  const log = collectLog();
  const queue = createApprovals({ log, expireMs, grants: createGrantFiles({ home, log }) });
  const shown: string[] = [];
  const watcher = (more: Partial<Watcher> = {}): Watcher => ({
    canAnswer: true,
    asked: ({ name }) => void shown.push(`asked ${name}`),
    over: ({ name }, { kind }) => void shown.push(`over ${name} ${kind}`),
    ...more,
  });
  return { queue, log, shown, watcher };
}

const signal = new AbortController().signal;
/** What waits, as soon as something does. */
async function waiting(queue: { pending(): Approval[] }, count = 1): Promise<Approval[]> {
  while (queue.pending().length < count) await new Promise((resolve) => setTimeout(resolve, 2));
  return queue.pending();
}

describe("the queue of approvals", () => {
  it("takes the first answer, tells every place that it is over, and late ones what became of it", async () => {
    const { queue, shown, watcher } = await queueIn(await temporaryHome());
    queue.attach(watcher());
    queue.attach(watcher({ canAnswer: false }));
    const asked = queue.ask(requestOf(), signal);
    const [approval] = await waiting(queue);
    expect(queue.answer(approval!.id, "once", "page").kind).toBe("counted");
    expect(queue.answer(approval!.id, "no", "terminal")).toMatchObject({
      ...{ kind: "over", end: { kind: "answered", answer: "once", at: "page" } },
    });
    expect(await asked).toEqual({ kind: "answered", answer: "once", at: "page" });
    expect(shown).toEqual([
      ...["asked write", "asked write", "over write answered", "over write answered"],
    ]);
    expect(queue.answer("ffffffff", "once", "page")).toEqual({ kind: "unknown" });
    expect(queue.pending()).toEqual([]);
  });

  it("remembers what was allowed for a session, across restarts, until the session begins anew", async () => {
    const home = await temporaryHome();
    const { queue, watcher } = await queueIn(home);
    queue.attach(watcher());
    const grant = { grant: "below src" };
    const both = [queue.ask(requestOf(grant), signal), queue.ask(requestOf(grant), signal)];
    const [approval] = await waiting(queue, 2);
    expect(approval!.grants).toBe("the same call of write again");
    queue.answer(approval!.id, "session", "http");
    expect((await Promise.all(both)).map(({ kind }) => kind).sort()).toEqual([
      ...["answered", "remembered"],
    ]);

    const next = await queueIn(home);
    expect(await next.queue.ask(requestOf(grant), signal)).toEqual({ kind: "remembered" });
    const others: Partial<ApprovalRequest>[] = [
      { grant: "below docs" },
      { ...grant, name: "shell" },
      { ...grant, asker: { kind: "plugin", id: "p" } },
      { ...grant, session: { agentId: "main", sessionKey: "agent:main:other" } },
      { ...grant, session: { agentId: "work", sessionKey: "agent:main:main" } },
    ];
    for (const other of others)
      expect(await next.queue.ask(requestOf(other), signal)).toEqual({ kind: "nobody" });
    await next.queue.forget(requestOf().session);
    expect(await next.queue.ask(requestOf(grant), signal)).toEqual({ kind: "nobody" });
  });

  it("is over when it expires, when the turn is stopped, and when the last who could answer leaves", async () => {
    const home = await temporaryHome();
    const brief = await queueIn(home, { expireMs: 20 });
    brief.queue.attach(brief.watcher());
    expect(await brief.queue.ask(requestOf(), signal)).toEqual({ kind: "expired", afterMs: 20 });

    const { queue, watcher } = await queueIn(home);
    const leave = queue.attach(watcher());
    queue.attach(watcher({ canAnswer: false }));
    const stopped = new AbortController();
    const withdrawn = queue.ask(requestOf(), stopped.signal);
    const [approval] = await waiting(queue);
    stopped.abort(new Error("stopped"));
    expect(await withdrawn).toEqual({ kind: "withdrawn" });
    expect(queue.answer(approval!.id, "once", "page")).toMatchObject({
      ...{ kind: "over", end: { kind: "withdrawn" } },
    });
    await expect(queue.ask(requestOf(), stopped.signal)).rejects.toThrow("stopped");

    const left = queue.ask(requestOf(), signal);
    await waiting(queue);
    leave();
    expect(await left).toEqual({ kind: "nobody" });
    const unasked = await queueIn(home, { expireMs: 0 });
    unasked.queue.attach(unasked.watcher());
    expect(await unasked.queue.ask(requestOf(), signal)).toEqual({ kind: "nobody" });
  });

  it("counts an answer for the session once where it cannot be kept, and says so", async () => {
    const { queue, log, watcher } = await queueIn("/dev/null");
    queue.attach(watcher());
    const asked = queue.ask(requestOf(), signal);
    const [approval] = await waiting(queue);
    queue.answer(approval!.id, "session", "terminal");
    expect(await asked).toMatchObject({ kind: "answered", answer: "session" });
    expect(log.lines).toContainEqual(expect.stringContaining("so it counts once"));
  });

  it("ends each question once, whoever answers, leaves, stops and comes in which order", async () => {
    const step = fc.record({
      what: fc.constantFrom("ask", "answer", "late", "stop", "leave", "come"),
      which: fc.nat(5),
      answer: fc.constantFrom("once" as const, "session" as const, "no" as const),
      name: fc.constantFrom("write", "shell"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { queue } = await queueIn(await temporaryHome());
        const ends = new Map<string, ApprovalEnd[]>();
        const ran: { name: string; end: ApprovalEnd | "stopped" }[] = [];
        const asked: { name: string; stop: AbortController; done: Promise<void> }[] = [];
        const answered: { id: string; answer: string }[] = [];
        queue.attach({
          ...{ canAnswer: false, asked: ({ id }) => void ends.set(id, []) },
          over: ({ id }, end) => void ends.get(id)!.push(end),
        });
        const nobody = { canAnswer: true, asked: () => {}, over: () => {} };
        const places = [queue.attach({ ...nobody })];
        for (const { what, which, answer, name } of steps) {
          if (what === "ask") {
            const stop = new AbortController();
            const done = queue.ask(requestOf({ name }), stop.signal).then(
              (end) => void ran.push({ name, end }),
              () => void ran.push({ name, end: "stopped" }),
            );
            asked.push({ name, stop, done });
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
          const pending = queue.pending();
          const { id } = pending[which % (pending.length || 1)] ?? {};
          if (what === "answer" && id !== undefined) {
            answered.push({ id, answer });
            expect(queue.answer(id, answer, "page").kind).toBe("counted");
            await new Promise((resolve) => setTimeout(resolve, 2));
          }
          const over = answered[which % (answered.length || 1)];
          if (what === "late" && over !== undefined)
            expect(queue.answer(over.id, "once", "http").kind).toBe("over");
          if (what === "stop") asked[which % (asked.length || 1)]?.stop.abort(new Error("stop"));
          if (what === "leave") places.pop()?.();
          if (what === "come") places.push(queue.attach({ ...nobody }));
        }
        for (const leave of places) leave();
        await Promise.all(asked.map(({ done }) => done));
        expect(queue.pending()).toEqual([]);
        expect(ran).toHaveLength(asked.length);
        for (const each of ends.values()) expect(each).toHaveLength(1);
        for (const { id, answer } of answered)
          expect(ends.get(id)).toEqual([{ kind: "answered", answer, at: "page" }]);
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });
});
