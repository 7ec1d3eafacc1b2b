import type { TurnResult } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { createInbox, type InboxOptions } from "./inbox.ts";
import type { SentResult } from "./item.ts";
import type { InboxTurn } from "./run-lane.ts";
import { createSessionGate } from "./session-gate.ts";
import { createTurnLine } from "./turn-line.ts";
import { createWaitingFiles } from "./waiting-files.ts";

const KEY = "agent:main:main";
const log = { info() {}, warn() {}, error() {} };
const limits = { waitingMessages: 9, waitingBytes: 9000, waitingTurns: 9, runningTurns: 9 };

/** Turns end as they are told to. */
async function inbox(
  beforeSaving = () => Promise.resolve(),
  entrySaying: InboxOptions["entrySaying"] = () => undefined,
) {
  const onDisk = createWaitingFiles({ home: await temporaryHome(), log });
  const save: typeof onDisk.save = (...given) => beforeSaving().then(() => onDisk.save(...given));
  const files = { ...onDisk, save };
  const turns: (InboxTurn & PromiseWithResolvers<SentResult>)[] = [];
  const made = createInbox({
    ...{ line: createTurnLine(() => limits.runningTurns), gate: createSessionGate() },
    ...{ store: files, log, limits, whenBusy: "follow", tell() {}, told: () => undefined },
    ...{ isBusyElsewhere: () => false, entrySaying },
    run(turn) {
      const end = Promise.withResolvers<SentResult>();
      turns.push({ ...turn, ...end });
      return end.promise;
    },
  });
  const kept = async () => (await files.read(KEY)).map(({ content }) => content);
  /** The next turn that begins, which has to be this message's. */
  const turnOf = async (text: string) => {
    await expect.poll(() => turns.length).toBeGreaterThan(0);
    const turn = turns.shift()!;
    expect(turn.prompt.content).toBe(text);
    return turn;
  };
  return { ...made, files, kept, turnOf };
}

const said = { outcome: "completed", error: null } as unknown as TurnResult;
const unwritable = {
  outcome: "failed",
  error: { kind: "host", message: "The session file could not be written." },
} as unknown as TurnResult;

const cancelled = {
  outcome: "aborted",
  error: { kind: "aborted", message: "The run was cancelled." },
} as unknown as TurnResult;

describe("a message that was taken in", () => {
  it("has no end of its turn where the gateway's end cancels that before it is stored", async () => {
    const { offer, kept, close, turnOf } = await inbox();
    const first = await offer({ key: KEY, content: "one" });
    const second = await offer({ key: KEY, content: "two" });
    const one = await turnOf("one");
    close();
    one.resolve(cancelled);
    for (const { result } of [first, second])
      await expect(result).rejects.toMatchObject({ code: "GATEWAY_STOPPING" });
    expect(await kept()).toEqual(["two"]);
  });
});

describe("a message that waited", () => {
  it("stays where its turn could not store it, and has another one with the next message", async () => {
    const { offer, list, kept, turnOf } = await inbox();
    const first = await offer({ key: KEY, content: "one" });
    const second = await offer({ key: KEY, content: "two" });
    expect([first.waiting, second.waiting?.text]).toEqual([null, "two"]);
    const one = await turnOf("one");
    one.onEvent({ type: "accepted", entryId: "1" });
    one.resolve(said);
    (await turnOf("two")).resolve(unwritable);
    expect(await second.result).toMatchObject({ outcome: "failed" });
    await expect
      .poll(() => list(KEY))
      .toMatchObject([{ text: "two", problem: "The session file could not be written." }]);
    expect(await kept()).toEqual(["two"]);
    const third = await offer({ key: KEY, content: "three" });
    for (const text of ["two", "three"]) {
      const turn = await turnOf(text);
      turn.onEvent({ type: "accepted", entryId: text });
      turn.resolve(said);
    }
    await third.result;
    expect(list(KEY)).toEqual([]);
    await expect.poll(kept).toEqual([]);
  });

  it("does not stay where a job sent it, which begins it again or not", async () => {
    const { files, takeIn, resume, list, kept, turnOf } = await inbox();
    const message = { id: "1", at: "2026-01-01T00:00:00Z", whenBusy: "follow" as const };
    const run = { ...message, content: "look", idempotencyKey: "cron/j/1", kind: "cron" as const };
    await files.save(KEY, () => [run]);
    expect(await takeIn()).toBe(1);
    resume();
    const turn = await turnOf("look");
    expect(turn.request.kind).toBe("cron");
    turn.resolve(unwritable);
    await expect.poll(() => list(KEY)).toEqual([]);
    await expect.poll(kept).toEqual([]);
  });

  it("is acknowledged to whoever sends it again when it is stored, and not before", async () => {
    const disk = Promise.withResolvers<void>();
    const { offer, kept } = await inbox(() => disk.promise);
    await offer({ key: KEY, content: "one" });
    const two = { key: KEY, content: "two", idempotencyKey: "of the client" };
    const acknowledged: (string | undefined)[] = [];
    const offers = [two, two].map(async (request) => {
      const { waiting } = await offer(request);
      acknowledged.push(waiting?.text);
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([acknowledged, await kept()]).toEqual([[], []]);
    disk.resolve();
    await Promise.all(offers);
    expect([acknowledged, await kept()]).toEqual([["two", "two"], ["two"]]);
  });

  it("is refused to whoever sends it again, too, where it cannot be stored", async () => {
    const { offer, list } = await inbox(() => Promise.reject(new Error("the disk is full")));
    await offer({ key: KEY, content: "one" });
    const two = { key: KEY, content: "two", idempotencyKey: "of the client" };
    const offers = await Promise.allSettled([offer(two), offer(two)]);
    expect(offers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(list(KEY)).toEqual([]);
  });

  it("is held by nothing that outlives it where it is sent again when it was said", async () => {
    const entry = { entryId: "1", content: "one" };
    const { offer } = await inbox(undefined, () => entry);
    const again = { key: KEY, content: "one", idempotencyKey: "of the client" };
    const [first, second] = [await offer(again), await offer(again)];
    expect(await second.result).toEqual({ outcome: "known", entryId: "1" });
    // A promise that never ends keeps everybody who ever waited for it.
    expect(first.begun).not.toBe(second.begun);
  });

  it("is forgotten where its session has it already", async () => {
    const { offer, list, kept, turnOf } = await inbox();
    await offer({ key: KEY, content: "one" });
    await offer({ key: KEY, content: "two" });
    const one = await turnOf("one");
    one.onEvent({ type: "accepted", entryId: "1" });
    one.resolve(said);
    (await turnOf("two")).resolve({ outcome: "known", entryId: "2" });
    await expect.poll(kept).toEqual([]);
    expect(list(KEY)).toEqual([]);
  });
});
