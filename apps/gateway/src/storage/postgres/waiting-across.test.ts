import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../../../packages/store-postgres/src/database.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import type { StreamedEvent } from "../../http/event-stream.ts";
import { post } from "../../testing/gateway.ts";
import { heldModel } from "../../testing/held-model.ts";
import { killPlace, type Place } from "../../testing/killed-gateways.ts";
import { askMain, saidInMain, sendToMain } from "../../testing/main-session.ts";
import { startedPlace } from "../../testing/started-place.ts";

const SOON = { timeout: 30_000 };
const LONG = { timeout: 120_000 };
const ALL_THREE = [
  ...["user: one", "assistant: One.", "user: two", "assistant: Two."],
  ...["user: three", "assistant: Three."],
];

describe.skipIf(whyNoPostgres() !== null)(
  `messages that wait, of two gateways ${UNLESS_THERE}`,
  () => {
    async function world() {
      const model = await heldModel();
      const databaseUrl = await testDatabase();
      const plan = { databaseUrl, deadAfterSeconds: 2, config: model.config };
      const [one, two] = await Promise.all([startedPlace(plan), startedPlace(plan)]);
      return { model, one, two, databaseUrl };
    }
    /** The first gateway has answered the first message. */
    async function answered() {
      const all = await world();
      const first = await sendToMain(all.one, { text: "one" });
      await all.model.answer("One.");
      await first.all;
      return all;
    }
    /** The first gateway answers the first message, and its model says nothing yet. */
    async function asked(body = { text: "one" }) {
      const all = await world();
      const first = await sendToMain(all.one, body);
      await all.model.asked();
      return { ...all, first };
    }
    const json = async (place: Place, path: string, init?: RequestInit) =>
      (await askMain(place, path, init)).json();
    const waiting = async (place: Place): Promise<string[]> =>
      (await json(place, "/waiting")).waiting.map(({ text }: { text: string }) => text);

    it(
      "are kept in the database, shown by both, and said by the other once theirs is dead, unasked",
      LONG,
      async () => {
        const { model, one, two, first } = await asked();
        const second = await sendToMain(one, { text: "two" });
        await second.told("waiting");
        const third = await sendToMain(two, { text: "three", idempotencyKey: "k3" });
        await third.told("waiting");
        expect(existsSync(join(one.home, "agents/main/waiting"))).toBe(false);
        expect([await waiting(one), await waiting(two)]).toEqual([
          ["two", "three"],
          ["two", "three"],
        ]);
        await killPlace(one);
        for (const each of [first, second]) await expect(each.all).rejects.toThrow();
        for (const text of ["One.", "Two.", "Three."]) await model.answer(text);
        expect((await third.all).at(-1)).toMatchObject({ type: "done", outcome: "completed" });
        expect(replyIn(third.events)).toBe("Three.");
        await expect.poll(() => saidInMain(two), SOON).toEqual(ALL_THREE);
        expect(await waiting(two)).toEqual([]);
      },
    );

    it(
      "that are sent for a dead one are kept, and answered where they were sent, once",
      LONG,
      async () => {
        const { model, one, two } = await answered();
        await killPlace(one);
        const body = { text: "two", idempotencyKey: "k2" };
        const second = await sendToMain(two, body);
        await second.told("waiting");
        const again = await sendToMain(two, body);
        await again.told("waiting");
        expect(await waiting(two)).toEqual(["two"]);
        await model.answer("Two.");
        for (const { all } of [second, again]) {
          const events = await all;
          expect(replyIn(events)).toBe("Two.");
          expect(events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
        }
        expect(await saidInMain(two)).toEqual(ALL_THREE.slice(0, 4));
        const late = await sendToMain(two, body);
        expect((await late.all).at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      },
    );

    it("are not said under the key of another one, wherever that is", LONG, async () => {
      const { model, one, two } = await world();
      const refusedBy = async (place: Place, body: Record<string, unknown>) => {
        const answer = await askMain(place, "/messages", post(body));
        const { error } = (await answer.json()) as { error: { code: string } };
        return [answer.status, error.code];
      };
      const refused = [422, "IDEMPOTENCY_KEY_REUSED"];
      const first = await sendToMain(one, { text: "one", idempotencyKey: "k1" });
      await model.answer("One.");
      await first.all;
      for (const place of [one, two])
        expect(await refusedBy(place, { text: "uno", idempotencyKey: "k1" })).toEqual(refused);
      await killPlace(one);
      // Said by the dead one, and kept for the next one.
      expect(await refusedBy(two, { text: "uno", idempotencyKey: "k1" })).toEqual(refused);
      const second = await sendToMain(two, { text: "two", idempotencyKey: "k2" });
      await second.told("waiting");
      expect(await refusedBy(two, { text: "due", idempotencyKey: "k2" })).toEqual(refused);
      await model.answer("Two.");
      expect((await second.all).at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      expect(await saidInMain(two)).toEqual(ALL_THREE.slice(0, 4));
    });

    it("are taken back at any gateway, and not said then", LONG, async () => {
      const { model, one, two } = await asked();
      for (const text of ["two", "three", "four"])
        await (await sendToMain(one, { text })).told("waiting");
      const list = async (place: Place) =>
        (await json(place, "/waiting")).waiting as { id: string; text: string }[];
      const [, three] = await list(two);
      const path = `/waiting/${three!.id}`;
      expect(await json(two, path, { method: "DELETE" })).toEqual({ takenBack: 1 });
      expect(await waiting(one)).toEqual(["two", "four"]);
      await killPlace(one);
      const [kept] = await list(two);
      expect(await json(two, `/waiting/${kept!.id}`, { method: "DELETE" })).toEqual({
        takenBack: 1,
      });
      for (const nobodys of [path, "/waiting/%00"])
        expect((await askMain(two, nobodys, { method: "DELETE" })).status).toBe(404);
      for (const text of ["One.", "Four."]) await model.answer(text);
      await expect
        .poll(() => saidInMain(two), SOON)
        .toEqual(["user: one", "assistant: One.", "user: four", "assistant: Four."]);
    });

    it(
      "go on where they were sent when the gateway that answered them is killed",
      LONG,
      async () => {
        const { model, one, two } = await answered();
        const second = await sendToMain(two, { text: "two" });
        const reply = await model.asked();
        reply.say("Half ");
        await second.told("text");
        await killPlace(one);
        const third = await sendToMain(two, { text: "three" });
        await third.told("waiting");
        for (const text of ["Two.", "Three."]) await model.answer(text);
        expect((await third.all).at(-1)).toMatchObject({ type: "done", outcome: "completed" });
        const told = (await second.all).flatMap((event) =>
          event.type === "text" || event.type === "waiting" ? [] : event.type,
        );
        expect(told).toEqual([...["queued", "accepted", "restarted", "message", "done"]]);
        expect(await saidInMain(two)).toEqual(ALL_THREE);
        const { calls } = await json(two, "/calls");
        expect(calls.map(({ turn }: { turn: number }) => turn)).toEqual([1, 2, 3]);
      },
    );

    it("do not go on with a turn that ended gateway after gateway", LONG, async () => {
      const body = { text: "one", idempotencyKey: "k1" };
      const { one, two, databaseUrl } = await asked(body);
      const database = openDatabase({ url: databaseUrl, connections: 1, timeoutMs: 20_000 });
      onTestFinished(() => database.end());
      await database.change(async () => "update session set turn_tries = 3");
      await killPlace(one);
      const open = async () => database.ask<{ turn: string | null }>(OPEN_TURNS, []);
      await expect.poll(open, SOON).toEqual([]);
      expect(await saidInMain(two)).toEqual(["user: one"]);
      const again = await sendToMain(two, body);
      expect((await again.all).map(({ type }) => type)).toEqual(["queued", "accepted", "done"]);
    });
  },
);

/** Told while it was written, or as it is stored where it came before anybody looked. */
const replyIn = (events: readonly StreamedEvent[]): string =>
  events.flatMap((event) => (event.type === "message" ? textOf(event.message) : [])).join();

const textOf = (message: AgentMessage | undefined): string[] =>
  message?.role === "assistant"
    ? message.content.flatMap((block) => (block.type === "text" ? block.text : []))
    : [];

const OPEN_TURNS = { name: "test-turns", text: "select turn from session where turn is not null" };
