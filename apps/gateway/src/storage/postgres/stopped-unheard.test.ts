import { once } from "node:events";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it, onTestFinished } from "vitest";
import { startCuttingProxy } from "../../../../../packages/store-postgres/src/testing/cutting-proxy.ts";
import { runSql } from "../../../../../packages/store-postgres/src/testing/server.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import type { StreamedEvent } from "../../http/event-stream.ts";
import { readEvents } from "../../http/read-events.ts";
import { post } from "../../testing/gateway.ts";
import { heldModel } from "../../testing/held-model.ts";
import { type Place, startPlace, stopPlace } from "../../testing/killed-gateways.ts";

const LONG = { timeout: 120_000 };
const SOON = { timeout: 30_000 };
/** By the clock of the database it is dead, and nobody else is there who would notice. */
const COUNT_AS_DEAD = "update node set seen_at = now() - interval '1 hour'";

describe.skipIf(whyNoPostgres() !== null)(
  `a gateway that nobody heard of for too long ${UNLESS_THERE}`,
  () => {
    async function start(databaseUrl: string, model: Awaited<ReturnType<typeof heldModel>>) {
      const place = await startPlace({ databaseUrl, deadAfterSeconds: 3, config: model.config });
      onTestFinished(() => stopPlace(place));
      return place;
    }
    const ask = ({ port }: Place, path: string, init?: RequestInit) =>
      fetch(`http://127.0.0.1:${port}/api/sessions/main${path}`, init);
    /** What the stream of a message tells, and how it ended. */
    async function send(place: Place, text: string) {
      const response = await ask(place, "/messages", post({ text, idempotencyKey: text }));
      const events: StreamedEvent[] = [];
      const all = (async () => {
        for await (const event of readEvents(response.body!)) events.push(event);
      })().catch(() => {});
      const types = () => events.map(({ type }) => type);
      return { status: response.status, types, all, events };
    }
    const said = async (place: Place): Promise<string[]> => {
      const { messages } = await (await ask(place, "/messages")).json();
      return (messages as { role: string }[]).map(
        (message) => `${message.role}: ${textOf(message as never)}`,
      );
    };

    it(
      "stores no end of its turns and tells none, and another one goes on with them",
      LONG,
      async () => {
        const model = await heldModel();
        const url = await testDatabase();
        const one = await start(url, model);
        const first = await send(one, "one");
        (await model.asked()).say("Half of");
        await expect.poll(first.types, SOON).toContain("text");
        const second = await send(one, "two");
        await expect.poll(second.types, SOON).toContain("waiting");
        const ended = once(one.child, "exit");
        await runSql(url, COUNT_AS_DEAD);
        expect(await ended).toEqual([1, null]);
        for (const { all, types } of [first, second]) {
          await all;
          expect(types().filter((type) => /^(?:message|done|error)$/.test(type))).toEqual([]);
        }
        const two = await start(url, model);
        for (const text of ["One.", "Two."]) {
          const reply = await model.asked();
          reply.say(text);
          reply.finish();
        }
        const again = await send(two, "one");
        await again.all;
        expect(again.events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
        await expect
          .poll(() => said(two), SOON)
          .toEqual(["user: one", "assistant: One.", "user: two", "assistant: Two."]);
      },
    );

    it("is not asked in vain where it alone lost the database", LONG, async () => {
      const model = await heldModel();
      const url = await testDatabase();
      const proxy = await startCuttingProxy(url);
      onTestFinished(() => proxy.close());
      const [one, two] = [await start(proxy.url, model), await start(url, model)];
      const first = await send(one, "one");
      const reply = await model.asked();
      reply.say("One.");
      reply.finish();
      await first.all;
      proxy.hold(true);
      const second = await send(two, "two");
      expect(second.status).toBe(200);
      const next = await model.asked();
      next.say("Two.");
      next.finish();
      await second.all;
      expect(second.events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      expect(await said(two)).toEqual([
        ...["user: one", "assistant: One.", "user: two", "assistant: Two."],
      ]);
    });
  },
);
