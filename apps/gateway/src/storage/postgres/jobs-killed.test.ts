import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createDatabase,
  startPostgres,
} from "../../../../../packages/store-postgres/src/testing/server.ts";
import {
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { jobGateways } from "../../testing/job-gateways.ts";
import type { Place } from "../../testing/killed-gateways.ts";

const LONG = { timeout: 120_000 };
const SOON = { timeout: 60_000, interval: 50 };

describe.skipIf(whyNoPostgres() !== null)(
  `jobs whose gateway or database ends ${UNLESS_THERE}`,
  () => {
    it("go on at another gateway where one is killed in the midst of a run", LONG, async () => {
      const { model, answer, start, store, add, rolesIn, ownerOf } = await jobGateways();
      const places: Place[] = [await start(), await start()];
      const place = async () => {
        const address = await ownerOf("a");
        return places.find(({ port }) => address?.endsWith(`:${port}`));
      };
      await add("a", 500);
      (await model.asked()).say("Half of it");
      const dead = (await place())!;
      dead.child.kill("SIGKILL");
      await once(dead.child, "exit");
      await answer("All of it.");
      await expect.poll(() => store.runs("a", 5), SOON).toHaveLength(1);
      const [run] = await store.runs("a", 5);
      expect(run).toMatchObject({ outcome: "completed", answer: "All of it." });
      expect(await rolesIn("a")).toEqual(["user", "assistant"]);
      expect(await place()).not.toBe(dead);
    });

    it(
      "are told by another gateway where the one that ran them stopped, and cancelled it",
      LONG,
      async () => {
        const { model, start, store, add, rolesIn, ownerOf } = await jobGateways();
        const places: Place[] = [await start(), await start()];
        await add("a", 500);
        (await model.asked()).say("Half of it");
        const address = await ownerOf("a");
        const stopped = places.find(({ port }) => address?.endsWith(`:${port}`))!;
        stopped.child.kill("SIGTERM");
        await once(stopped.child, "exit");
        await expect.poll(() => store.runs("a", 5), SOON).toHaveLength(1);
        const [run] = await store.runs("a", 5);
        expect(run).toMatchObject({ outcome: "aborted", answer: "Half of it" });
        expect(await rolesIn("a")).toEqual(["user", "assistant"]);
      },
    );

    it("lose and double no run while gateways are killed again and again", LONG, async () => {
      const { model, start, again, store, add, said, now } = await jobGateways();
      const over = new AbortController();
      void (async () => {
        while (!over.signal.aborted) {
          const reply = await model.asked();
          reply.say("Seen.");
          setTimeout(reply.finish, 100 * Math.random());
        }
      })();
      const places = [await start(), await start()];
      const ids = Array.from({ length: 16 }, (_, index) => `j${index}`);
      const began = now();
      for (const [index, id] of ids.entries()) await add(id, 500 * (index + 1));
      for (let kill = 0; kill < 4; kill++) {
        await after(1500);
        const place = places[kill % 2]!;
        place.child.kill("SIGKILL");
        await once(place.child, "exit");
        await again(place);
      }
      for (const [index, id] of ids.entries()) {
        await expect.poll(() => store.runs(id, 5), SOON).toHaveLength(1);
        const [run] = await store.runs(id, 5);
        expect(Math.abs(run!.due - began - 500 * (index + 1))).toBeLessThan(500);
        expect(run).toMatchObject({ outcome: "completed", answer: "Seen.", missed: 0 });
        const messages = await said(id);
        expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
      }
      over.abort();
    });

    it("run once where the database ends and starts in the midst of a run", LONG, async () => {
      const server = await startPostgres({
        folder: join(tmpdir(), `clew-jobs-${randomUUID().slice(0, 8)}`),
      });
      onTestFinished(() => server.stop());
      const { model, start, store, add, rolesIn } = await jobGateways({
        ...{ url: await createDatabase(server, "jobs"), deadAfterSeconds: 10 },
      });
      await start();
      await start();
      await add("a", 500);
      const reply = await model.asked();
      reply.say("Whatever ");
      await server.restart("immediate", { downMs: 1500 });
      reply.say("happens.");
      reply.finish();
      await expect
        .poll(() => store.runs("a", 5).catch(() => []), SOON)
        .toMatchObject([{ outcome: "completed", answer: "Whatever happens." }]);
      expect(await rolesIn("a")).toEqual(["user", "assistant"]);
    });
  },
);
