import { conversation, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { describeStore } from "../operating/describe-store.ts";
import { readMessages, storeMessages } from "../store/messages.ts";
import { useOf } from "../store/oldest.ts";
import { scrub } from "../store/scrub.ts";
import { indexMore } from "../store/search-index.ts";
import { SESSION, startLife } from "../testing/life.ts";
import { namedWithIds, temporaryStore, withIds } from "../testing/stored.ts";
import { planExpiry, retain } from "./retain.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 1);
const aged = (count: number) =>
  conversation({ turns: count, tools: 1, toolResultChars: 6_000 }).map((message, at) => ({
    ...message,
    timestamp: NOW - (100 - at) * DAY,
  }));

describe("retention", () => {
  it("plans what is too old, up to the first message that is young or has no time", () => {
    const oldest = [5, 3, 9, 1].map((days, seq) => ({ seq, time: NOW - days * DAY }));
    expect(planExpiry(oldest, { keepDays: 4, now: NOW })).toEqual([0]);
    expect(planExpiry(oldest, { keepDays: Infinity, now: NOW })).toEqual([]);
    expect(planExpiry([{ seq: 7, time: null }], { keepDays: 1, now: NOW })).toEqual([]);
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
