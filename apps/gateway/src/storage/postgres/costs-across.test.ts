// Adds up what calls of several gateways cost, at any of them.
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import type { Usage } from "../../costs/usage.ts";
import { clew } from "../../testing/command.ts";
import { post } from "../../testing/gateway.ts";
import { heldModel } from "../../testing/held-model.ts";
import { type Place, startPlace, stopPlace } from "../../testing/killed-gateways.ts";

const SOON = { timeout: 30_000 };

describe.skipIf(whyNoPostgres() !== null)(`costs of two gateways ${UNLESS_THERE}`, () => {
  it("are one sum at each, of a session that changed its gateway too, and of one that is dead", {
    timeout: 120_000,
  }, async () => {
    const model = await heldModel();
    const plan = {
      ...{ databaseUrl: await testDatabase(), deadAfterSeconds: 2 },
      config: model.config,
    };
    const places = await Promise.all([startPlace(plan), startPlace(plan)]);
    onTestFinished(async () => void (await Promise.all(places.map(stopPlace))));
    const [one, two] = places as [Place, Place];
    const get = async (place: Place, path: string): Promise<Usage> =>
      (await fetch(`http://127.0.0.1:${place.port}/api/${path}`)).json() as Promise<Usage>;
    const say = async (place: Place, session: string) => {
      const path = `/api/sessions/${session}/messages`;
      const answer = fetch(`http://127.0.0.1:${place.port}${path}`, post({ text: "Hello." }));
      (await model.asked()).finish();
      expect(await (await answer).text()).toContain('"outcome":"completed"');
    };
    const sums = async (usage: Promise<Usage>) => {
      const { total, sessions } = await usage;
      return [total.modelCalls, sessions.map(({ name, modelCalls }) => [name, modelCalls]).sort()];
    };
    await say(one, "main");
    await say(one, "main");
    await say(two, "other");
    const all = [
      3,
      [
        ["agent:main:main", 2],
        ["agent:main:other", 1],
      ],
    ];
    for (const place of [one, two])
      await expect.poll(() => sums(get(place, "usage")), SOON).toEqual(all);
    one.child.kill("SIGKILL");
    await once(one.child, "exit");
    await say(two, "main");
    const later = [
      4,
      [
        ["agent:main:main", 3],
        ["agent:main:other", 1],
      ],
    ];
    expect(await sums(get(two, "usage"))).toEqual(later);
    expect((await get(two, "sessions/main/usage")).total.modelCalls).toBe(3);
    for (const { home } of [one, two]) {
      const told = async () =>
        sums(clew(home, ["usage", "--json"]).then(({ output }) => JSON.parse(output) as Usage));
      await expect.poll(told, SOON).toEqual(later);
    }
  });
});
