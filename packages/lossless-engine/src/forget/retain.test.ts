import { conversation, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { describeRetention } from "../operating/describe-retention.ts";
import { describeStore } from "../operating/describe-store.ts";
import { readMessages, storeMessages } from "../store/messages.ts";
import { useOf } from "../store/oldest.ts";
import { scrub } from "../store/scrub.ts";
import { indexMore } from "../store/search-index.ts";
import { SESSION, startLife } from "../testing/life.ts";
import { namedWithIds, temporaryStore, withIds } from "../testing/stored.ts";
import { grep } from "../tools/grep.ts";
import { retain, retentionState } from "./retain.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 1);
const aged = (count: number) =>
  conversation({ turns: count, tools: 1, toolResultChars: 6_000 }).map((message, at) => ({
    ...message,
    timestamp: NOW - (100 - at) * DAY,
  }));

describe("retention", () => {
  it("judges each message by its own time, in whatever order they came", async () => {
    const store = temporaryStore();
    const other = { sessionId: "older", sessionKey: "agent:main:older" };
    const young = [{ ...user("young"), timestamp: NOW }];
    storeMessages(store, { session: SESSION, messages: namedWithIds(young), from: "told" });
    // More than fit into one step, read after a younger session began.
    const old = Array.from({ length: 1_200 }, (_, at) => ({
      ...user(`said ${at}`),
      timestamp: NOW - (at % 7) * DAY - 1,
    }));
    storeMessages(store, { session: other, messages: namedWithIds(old, "o"), from: "told" });
    const tooOld = old.filter(({ timestamp }) => timestamp <= NOW - 2 * DAY).length;
    const request = { now: NOW, boundMs: 60_000 };
    const state = await retentionState(store, { keepDays: 2 }, request);
    expect(state).toMatchObject({ old: tooOld, timeless: 0 });
    expect(await retain(store, { keepDays: 2 }, request)).toBe(tooOld);
    expect((await verifyStore(store)).faults).toEqual([]);
    // Time goes by, and more is said: what was young then goes now.
    const more = [{ ...user("later"), timestamp: NOW + 2 * DAY }];
    storeMessages(store, { session: SESSION, messages: namedWithIds(more, "l"), from: "told" });
    const later = { ...request, now: NOW + 2 * DAY };
    expect(await retain(store, { keepDays: 2 }, later)).toBe(1 + old.length - tooOld);
  });

  it("takes a message without a time for as old as the next that has one", async () => {
    const store = temporaryStore();
    const timeless = (text: string) => {
      const { timestamp: _, ...message } = user(text);
      return message as ReturnType<typeof user>;
    };
    const month = Array.from({ length: 50 }, (_, at) => ({
      ...user(`old ${at}`),
      timestamp: NOW - 30 * DAY,
    }));
    const told = [timeless("first"), ...month, timeless("last"), timeless("very last")];
    storeMessages(store, { session: SESSION, messages: namedWithIds(told), from: "told" });
    const request = { now: NOW, boundMs: 60_000 };
    expect(await retain(store, { keepDays: 7 }, request)).toBe(51);
    expect(await retentionState(store, { keepDays: 7 }, request)).toMatchObject({ timeless: 2 });
    const answer = [{ ...user("and on"), timestamp: NOW - 8 * DAY }];
    storeMessages(store, { session: SESSION, messages: namedWithIds(answer, "a"), from: "told" });
    expect(await retain(store, { keepDays: 7 }, request)).toBe(3);
    expect((await verifyStore(store)).faults).toEqual([]);
  });

  it("says truly what goes, and why the rest stays", () => {
    const state = { old: 0, timeless: 2, megabytes: 4.2, isOver: true, hasLong: false };
    expect(describeRetention(state, { keepDays: 1, keepMegabytes: 3 })).toEqual({
      going: [],
      staying: [
        "No message is known to be older than 1 day.",
        expect.stringMatching(/^2 messages have no time/),
        expect.stringMatching(/^4\.2 MB are in use, more than the 3 .* the newest 1,000 messages/),
      ],
    });
    const more = { old: 7, timeless: 0, megabytes: 4.2, isOver: true, hasLong: true };
    expect(describeRetention(more, { keepDays: 2, keepMegabytes: 3, keepNewest: 5 })).toEqual({
      going: [
        "7 messages said more than 2 days ago",
        expect.stringContaining("but for the newest 5"),
      ],
      staying: [],
    });
    const calm = { old: null, timeless: null, megabytes: 1, isOver: false, hasLong: false };
    expect(describeRetention(calm, { keepMegabytes: 3 }).staying).toEqual([
      "1.0 MB are in use, no more than the 3 that may be.",
    ]);
  });

  it("lets go of what is too old, and status and the audit tell of it", async () => {
    const store = temporaryStore();
    const messages = namedWithIds(aged(10));
    storeMessages(store, { session: SESSION, messages, from: "told" });
    const kept = messages.filter(({ message }) => message.timestamp! > NOW - 80 * DAY).length;
    const gone = messages.length - kept;
    const request = { now: NOW, boundMs: 60_000 };
    expect(gone).toBeGreaterThan(10);
    expect(await retain(store, { keepDays: 80 }, request)).toBe(gone);
    expect(await retain(store, { keepDays: 80 }, request)).toBe(0);
    expect(await retain(store, {}, request)).toBe(0);
    const rows = readMessages(store, { conversation: 1, limit: 1_000 });
    expect(rows.filter(({ isForgotten }) => isForgotten)).toHaveLength(gone);
    expect(await verifyStore(store)).toMatchObject({ faults: [], expired: gone, forgotten: 0 });
    expect(await describeStore(store)).toContain(`(${gone} no longer kept)`);
  });

  it("lets no more go than the size asks for, of long and of short messages", async () => {
    for (const chars of [1_500, 3_000, 20_000]) {
      const store = temporaryStore();
      const many = namedWithIds(conversation({ turns: 400, tools: 1, toolResultChars: chars }));
      storeMessages(store, { session: SESSION, messages: many, from: "told" });
      const { bytes } = useOf(store);
      const wanted = 0.8 * bytes;
      const request = { now: NOW, boundMs: 60_000 };
      await retain(store, { keepMegabytes: wanted / 1e6, keepNewest: 40 }, request);
      const { bytes: left, looseBytes } = useOf(store);
      expect(left - looseBytes).toBeLessThanOrEqual(wanted);
      await scrub(store);
      // What status counts as free is free once the file is written anew.
      expect(useOf(store).bytes).toBeGreaterThan(0.55 * bytes);
      expect(useOf(store).bytes).toBeLessThan(1.1 * wanted);
    }
  });

  it("leaves short messages, which give no room back, and says what is free", async () => {
    const store = temporaryStore();
    const words = Array.from({ length: 3_000 }, (_, at) => user(`short ${at}`));
    storeMessages(store, { session: SESSION, messages: namedWithIds(words), from: "told" });
    const request = { now: NOW, boundMs: 60_000 };
    expect(await retain(store, { keepMegabytes: 0.001, keepNewest: 10 }, request)).toBe(0);
    const long = user("long ".repeat(500_000));
    storeMessages(store, {
      session: SESSION,
      messages: namedWithIds([long, user("end")], "l"),
      from: "told",
    });
    expect(await retain(store, { keepMegabytes: 0.001, keepNewest: 1 }, request)).toBe(1);
    expect(await describeStore(store)).toMatch(/\d\.\d MB \(\d\.\d MB of it free\) in /);
  });

  it("leaves placeholders, of which a search says that it finds nothing in them", async () => {
    const store = temporaryStore();
    const messages = namedWithIds(aged(10));
    storeMessages(store, { session: SESSION, messages, from: "told" });
    const context = { callId: "c", session: SESSION, scope: null };
    const search = () => grep(store, { pattern: "marmoset" }, context);
    expect(await search()).not.toContain("not kept any more");
    const gone = await retain(store, { keepDays: 80 }, { now: NOW, boundMs: 60_000 });
    expect(await search()).toContain(
      `Of the messages ${gone} are not kept any more, and no search`,
    );
  });

  it("takes the words of what went out of the search index", async () => {
    const store = temporaryStore();
    const messages = namedWithIds([user("zanzibar ".repeat(100)), user("end")]);
    storeMessages(store, { session: SESSION, messages, from: "told" });
    while (!indexMore(store, () => false));
    const request = { now: NOW, boundMs: 60_000 };
    const wordsKept = () =>
      store.read((sql) =>
        sql("SELECT block FROM words_data")
          .all()
          .some(({ block }) => Buffer.from(block as Uint8Array).includes("anzibar")),
      );
    expect(wordsKept()).toBe(true);
    expect(await retain(store, { keepMegabytes: 0.001, keepNewest: 1 }, request)).toBe(1);
    expect(await retain(store, { keepMegabytes: 0.001, keepNewest: 1 }, request)).toBe(0);
    expect(wordsKept()).toBe(false);
  });

  it("lets the oldest go above a size, and keeps the newest 1,000 messages", async () => {
    const store = temporaryStore();
    const many = namedWithIds(conversation({ turns: 300, tools: 1, toolResultChars: 500 }));
    storeMessages(store, { session: SESSION, messages: many, from: "told" });
    const request = { now: NOW, boundMs: 60_000 };
    const longOf = (of: typeof many) =>
      of.filter(({ message }) => JSON.stringify(message).length >= 512).length;
    const old = longOf(many.slice(0, -1_000));
    expect(old).toBeGreaterThan(40);
    expect(await retain(store, { keepMegabytes: 0.001 }, request)).toBe(old);
    expect((await verifyStore(store)).faults).toEqual([]);
    const few = { keepMegabytes: 0.001, keepNewest: 40 };
    expect(await retain(store, few, request)).toBe(longOf(many.slice(-1_000, -40)));
  });

  it("is done after turns by an engine that is told to", async () => {
    const { engine, tell, stored } = startLife({ keepDays: 30 });
    await tell(withIds(aged(3)));
    await engine.maintain?.({ ...SESSION, sessionFile: "" });
    expect(
      stored().every(({ message }) => JSON.stringify(message).includes("no longer kept")),
    ).toBe(true);
  });
});
