import { setTimeout as after } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { openPostgresStore } from "../../../../../packages/store-postgres/src/store.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { SIMPLE_PORTS } from "../../../../../packages/store-postgres/src/testing/simple-ports.ts";
import type { Standing } from "../storage.ts";
import { createLooks } from "./looks.ts";

const NOBODY: Standing = { owner: null, isInTurn: false, isKept: false };
const signal = new AbortController().signal;

describe("those who wait to hear who has their sessions", () => {
  it("are told by one question a tick, however many they are", async () => {
    const asked: number[] = [];
    const { look } = createLooks({
      everyMs: 20,
      async ask(sessions) {
        asked.push(sessions.length);
        return sessions.map(({ key }) => ({ ...NOBODY, owner: key }));
      },
    });
    const rounds = 5;
    const clients = Array.from({ length: 200 }, async (_, index) => {
      for (let round = 0; round < rounds; round++)
        expect((await look(`s${index}`, { name: null, signal })).owner).toBe(`s${index}`);
    });
    await Promise.all(clients);
    expect(asked).toEqual(Array.from({ length: rounds }, () => 200));
  });

  it.skipIf(whyNoPostgres() !== null)(
    `cost the database one statement a tick, and hear of each session its own ${UNLESS_THERE}`,
    async () => {
      const statements: string[] = [];
      const url = await testDatabase();
      const open = (address: string) =>
        openPostgresStore({
          ...{ url, address, ports: SIMPLE_PORTS, ttlMs: 60_000 },
          onRoundTrip: (trip) => void statements.push(...trip.statements),
        });
      const [one, two] = [await open("http://one"), await open("http://two")];
      onTestFinished(async () => void (await Promise.all([one.close(), two.close()])));
      const named = (index: number) => ({ agentId: "main", key: `agent:main:s${index}` });
      for (const index of [0, 2]) await one.open(named(index));
      await two.keep(named(3), { name: "k", id: "i", body: "{}" });
      const { look } = createLooks({
        everyMs: 20,
        async ask(sessions) {
          const asked = sessions.map(({ key, name }) => ({ agentId: "main", key, message: name }));
          const standings = await two.standings(asked);
          return standings.map(({ address: owner, inTurn: isInTurn, isKept }) => ({
            ...{ owner, isInTurn, isKept },
          }));
        },
      });
      statements.length = 0;
      const rounds = 4;
      const clients = Array.from({ length: 200 }, async (_, index) => {
        const heard: Standing[] = [];
        for (let round = 0; round < rounds; round++)
          heard.push(await look(named(index).key, { name: "k", signal }));
        return heard;
      });
      for (const [index, heard] of (await Promise.all(clients)).entries()) {
        const owner = index === 0 || index === 2 ? "http://one" : null;
        const standing = { owner, isInTurn: false, isKept: index === 3 };
        expect(heard).toEqual(Array.from({ length: rounds }, () => standing));
      }
      expect(statements.filter((name) => !name.startsWith("node"))).toEqual(
        Array.from({ length: rounds }, () => "session-standing"),
      );
    },
  );

  it("hear of a failure at once, and leave without an answer", async () => {
    const { look } = createLooks({
      everyMs: 1,
      ask: () => Promise.reject(new Error("The database is away.")),
    });
    await expect(look("main", { name: null, signal })).rejects.toThrow("away");
    const left = new AbortController();
    const waiting = look("main", { name: null, signal: left.signal });
    left.abort(new DOMException("Gone.", "AbortError"));
    await expect(waiting).rejects.toThrow("Gone.");
    await after(5);
  });
});
