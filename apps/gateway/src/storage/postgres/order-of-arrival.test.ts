import { setTimeout as after } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { startCuttingProxy } from "../../../../../packages/store-postgres/src/testing/cutting-proxy.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { heldModel } from "../../testing/held-model.ts";
import { saidInMain, sendToMain } from "../../testing/main-session.ts";
import { startedPlace } from "../../testing/started-place.ts";

const LONG = { timeout: 60_000 };

describe.skipIf(whyNoPostgres() !== null)(
  `messages of one sender, at one gateway ${UNLESS_THERE}`,
  () => {
    it.each(["session-owner", "turn-left"])(
      "are said in the order in which they came, also where %s is answered late for the first",
      LONG,
      async (statement) => {
        const model = await heldModel();
        const proxy = await startCuttingProxy(await testDatabase());
        onTestFinished(() => proxy.close());
        const { config } = model;
        const place = await startedPlace({ databaseUrl: proxy.url, deadAfterSeconds: 30, config });
        const { held, letGo } = proxy.holdNext(statement);
        const first = sendToMain(place, { text: "first" });
        await held;
        const second = sendToMain(place, { text: "second" });
        // It would have overtaken the first by then.
        await after(500);
        letGo();
        for (const text of ["One.", "Two."]) await model.answer(text);
        for (const sent of [await first, await second]) await sent.all;
        expect(await saidInMain(place)).toEqual([
          ...["user: first", "assistant: One.", "user: second", "assistant: Two."],
        ]);
      },
    );
  },
);
