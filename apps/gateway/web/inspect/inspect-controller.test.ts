import { describe, expect, it } from "vitest";
import { sumUsage } from "../../src/costs/usage.ts";
import type { CallPage } from "../../src/inspect/shapes/calls.ts";
import { createStore } from "../store.ts";
import { callRow, fates } from "../testing/calls.ts";
import type { InspectApi } from "./inspect-api.ts";
import { createInspectController } from "./inspect-controller.ts";
import { type InspectState, initialInspect } from "./inspect-state.ts";

const COUNT = 6300;

/** A gateway with so many calls, of which nothing but rows can be read. */
function manyCalls() {
  const all = Array.from({ length: COUNT }, (_, index) => callRow(`${index + 1}.1`));
  const limits: number[] = [];
  const asked = { usage: 0, sideCalls: 0 };
  const calls: InspectApi["calls"] = async (_key, wanted): Promise<CallPage> => {
    limits.push(wanted.limit);
    const since = { sideCalls: asked.sideCalls, cost: null, unanswered: [] };
    const told = {
      total: COUNT,
      sums: { calls: COUNT, turns: COUNT, sent: 0 },
      peaks: { dearest: null, fullest: null },
      since,
      unreadableTurns: [],
      missingTurns: [],
      letGoTurns: 0,
    };
    const placeOf = (id: string) => all.findIndex((row) => row.id === id);
    if ("after" in wanted)
      return { ...told, calls: all.slice(placeOf(wanted.after) + 1), next: null };
    const end = wanted.before === "newest" ? COUNT : placeOf(wanted.before);
    const from = Math.max(0, end - wanted.limit);
    return { ...told, calls: all.slice(from, end), next: from === 0 ? null : all[from]!.id };
  };
  const nothing = async () => null;
  const entries: InspectApi["entries"] = async (_key, { call }) => ({
    ...{ call, entries: [], matching: 0, next: null },
    fates: fates({}),
  });
  const usage: InspectApi["usage"] = () => {
    asked.usage++;
    return sumUsage([]);
  };
  const rest = { call: nothing, items: nothing, proof: nothing, diff: nothing };
  const api = { calls, entries, usage, ...rest } as unknown as InspectApi;
  return { api, limits, asked, ids: all.map(({ id }) => id) };
}

describe("older calls of a long session", () => {
  it("come in small answers, all of them, and are shown in few steps", async () => {
    const { api, limits, ids } = manyCalls();
    const store = createStore<InspectState>(initialInspect("main"));
    const lengths = new Set<number>();
    const isWhole = new Promise<void>((resolve) =>
      store.subscribe(() => {
        lengths.add(store.get().rows.length);
        if (store.get().older === null && store.get().rows.length === COUNT) resolve();
      }),
    );
    const controller = createInspectController({ api, store, isStored: async () => true });
    await controller.follow("main");
    await isWhole;
    expect(store.get().rows.map(({ id }) => id)).toEqual(ids);
    expect(Math.max(...limits)).toBe(500);
    expect([...lengths].filter((length) => length > 0)).toEqual([500, 1000, 2000, 4000, COUNT]);
  });
});

it("the cost of a session is read again once a compaction asked a model", async () => {
  const { api, asked } = manyCalls();
  const store = createStore<InspectState>(initialInspect("main"));
  const controller = createInspectController({ api, store, isStored: async () => true });
  await controller.follow("main");
  await expect.poll(() => asked.usage).toBe(1);
  await controller.refresh();
  asked.sideCalls = 8;
  await controller.refresh();
  await expect.poll(() => asked.usage).toBe(2);
});

it("a call that was left before it was read is not shown in the place of another", async () => {
  const { api, ids } = manyCalls();
  const store = createStore<InspectState>(initialInspect("main"));
  let answer: (() => void) | undefined;
  const slow = ids.at(-3)!;
  const call = (async (_key: string, id: string) => {
    if (id === slow)
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
    const none = { parts: { system: 0, tools: 0, messages: 0 }, items: [], rebuilt: null };
    return { ...none, row: callRow(id), summaries: [] };
  }) as unknown as InspectApi["call"];
  const shown = new Set<string>();
  store.subscribe(() => shown.add(store.get().view?.row.id ?? ""));
  const controller = createInspectController({
    ...{ api: { ...api, call }, store, isStored: async () => true },
  });
  await controller.follow("main");
  const left = controller.go({ call: slow });
  await expect.poll(() => answer).toBeDefined();
  const wanted = controller.go({ call: null });
  answer?.();
  await Promise.all([left, wanted]);
  expect([...shown].filter((id) => id !== "")).toEqual([ids.at(-1)]);
  expect(store.get().view?.row.id).toBe(ids.at(-1));
});
