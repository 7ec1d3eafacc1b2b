import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { startCuttingProxy } from "../../../../../packages/store-postgres/src/testing/cutting-proxy.ts";
import { runSql } from "../../../../../packages/store-postgres/src/testing/server.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { type HeldModel, heldModel } from "../../testing/held-model.ts";
import type { Place } from "../../testing/killed-gateways.ts";
import { saidInMain, sendToMain } from "../../testing/main-session.ts";
import { startedPlace } from "../../testing/started-place.ts";

const LONG = { timeout: 120_000 };
const SOON = { timeout: 30_000 };
/** By the clock of the database it is dead, and nobody else is there who would notice. */
const COUNT_AS_DEAD = "update node set seen_at = now() - interval '1 hour'";

describe.skipIf(whyNoPostgres() !== null)(
  `a gateway that nobody heard of for too long ${UNLESS_THERE}`,
  () => {
    const start = (databaseUrl: string, { config }: HeldModel) =>
      startedPlace({ databaseUrl, deadAfterSeconds: 3, config });
    const send = (place: Place, text: string) => sendToMain(place, { text, idempotencyKey: text });

    it(
      "stores no end of its turns and tells none, and another one goes on with them",
      LONG,
      async () => {
        const model = await heldModel();
        const url = await testDatabase();
        const one = await start(url, model);
        const first = await send(one, "one");
        (await model.asked()).say("Half of");
        await first.told("text");
        const second = await send(one, "two");
        await second.told("waiting");
        const ended = once(one.child, "exit");
        await runSql(url, COUNT_AS_DEAD);
        expect(await ended).toEqual([1, null]);
        for (const { all, types } of [first, second]) {
          await all.catch(() => {});
          expect(types().filter((type) => /^(?:message|done|error)$/.test(type))).toEqual([]);
        }
        const two = await start(url, model);
        for (const text of ["One.", "Two."]) await model.answer(text);
        const again = await send(two, "one");
        await again.all;
        expect(again.events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
        await expect
          .poll(() => saidInMain(two), SOON)
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
      await model.answer("One.");
      await first.all;
      proxy.hold(true);
      const second = await send(two, "two");
      expect(second.status).toBe(200);
      await model.answer("Two.");
      await second.all;
      expect(second.events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      expect(await saidInMain(two)).toEqual([
        ...["user: one", "assistant: One.", "user: two", "assistant: Two."],
      ]);
    });
  },
);
