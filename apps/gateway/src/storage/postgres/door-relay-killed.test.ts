// A gateway that hands a request of the door on, and is killed before its client has the answer.
import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { ask, person } from "../../testing/door-client.ts";
import { heldModel } from "../../testing/held-model.ts";
import { killPlace, type Place } from "../../testing/killed-gateways.ts";
import { startedPlace } from "../../testing/started-place.ts";
import { gatewayAt, textsIn } from "../../testing/wandering-agent.ts";

const LONG = { timeout: 120_000 };
const SOON = { timeout: 30_000 };

describe.skipIf(whyNoPostgres() !== null)(
  `a request of the door that another gateway hands on ${UNLESS_THERE}`,
  () => {
    async function world() {
      const model = await heldModel();
      const plan = {
        ...{ databaseUrl: await testDatabase(), deadAfterSeconds: 30 },
        config: { ...model.config, door: { enabled: true } },
      };
      const [owner, relay] = [await startedPlace(plan), await startedPlace(plan)];
      const { answer } = model;
      const say = (place: Place, text: string) =>
        ask(gatewayAt(place), "openai-completions", [person(text)], {
          ...{ model: "clew", streaming: true },
        });
      const sessions = async () => {
        const { sessions: all } = await (await gatewayAt(owner).get("/api/sessions")).json();
        return (all as { key: string }[]).map(({ key }) => key);
      };
      // From now on this one has the door.
      const first = say(owner, "Which one answers?");
      await answer("This one.");
      await first;
      return { model, owner, relay, answer, say, sessions, before: await sessions() };
    }

    it(
      "is the same conversation when it comes again, as its client had no answer",
      LONG,
      async () => {
        const { model, owner, relay, answer, say, sessions, before } = await world();
        const cut = say(relay, "My cat is called Minka.").catch(() => undefined);
        const reply = await model.asked();
        relay.child.kill("SIGSTOP");
        reply.say("Good.");
        reply.finish();
        const begun = async () => (await sessions()).filter((key) => !before.includes(key));
        await expect.poll(begun, SOON).toHaveLength(1);
        const [session] = await begun();
        const texts = () => textsIn(gatewayAt(owner), session!);
        await expect.poll(texts, SOON).toEqual(["My cat is called Minka.", "Good."]);
        await killPlace(relay);
        await cut;
        const again = say(owner, "My cat is called Minka.");
        await answer("Good again.");
        expect((await again).text).toBe("Good again.");
        expect(await begun()).toEqual([session]);
        await expect.poll(texts, SOON).toEqual(["My cat is called Minka.", "Good again."]);
      },
    );

    it("is another one when it comes again from who had the answer", LONG, async () => {
      const { relay, answer, say, sessions, before } = await world();
      for (const text of ["Good.", "Good again."]) {
        const asked = say(relay, "My cat is called Minka.");
        await answer(text);
        expect((await asked).text).toBe(text);
      }
      expect((await sessions()).filter((key) => !before.includes(key))).toHaveLength(2);
    });
  },
);
