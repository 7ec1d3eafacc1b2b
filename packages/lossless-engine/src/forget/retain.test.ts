import { conversation } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { describeStore } from "../operating/describe-store.ts";
import { readMessages, storeMessages } from "../store/messages.ts";
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

  it("lets the oldest go above a size, and keeps the newest 1,000 messages", async () => {
    const store = temporaryStore();
    const many = namedWithIds(conversation({ turns: 300, tools: 1, toolResultChars: 500 }));
    storeMessages(store, { session: SESSION, messages: many, from: "told" });
    const request = { now: NOW, boundMs: 60_000 };
    expect(await retain(store, { keepMegabytes: 0.001 }, request)).toBe(many.length - 1_000);
    expect((await verifyStore(store)).faults).toEqual([]);
    const few = { keepMegabytes: 0.001, keepNewest: 40 };
    expect(await retain(store, few, request)).toBe(960);
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
