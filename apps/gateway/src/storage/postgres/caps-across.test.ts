// Stops spending at gateways of one database, whichever of them spent.
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { readEvents } from "../../http/read-events.ts";
import { clew } from "../../testing/command.ts";
import { post } from "../../testing/gateway.ts";
import { type HeldModel, heldModel } from "../../testing/held-model.ts";
import { type Place, startAgain, startPlace, stopPlace } from "../../testing/killed-gateways.ts";

const LIMIT = { timeout: 120_000 };
const SOON = { timeout: 30_000 };
const PRICES = { input: 100, output: 100, cacheRead: 0, cacheWrite: 0 };

/** Less than a call costs. */
const LITTLE = 0.000_001;

async function twoGateways(costCaps: object) {
  const model = await heldModel({ cost: PRICES });
  const config = { ...model.config, gateway: { costCaps } };
  const plan = { databaseUrl: await testDatabase(), deadAfterSeconds: 2, config };
  const places = await Promise.all([startPlace(plan), startPlace(plan)]);
  onTestFinished(async () => void (await Promise.all(places.map(stopPlace))));
  return { model, places, plan };
}

/** What a turn ended with. */
async function done(answer: Promise<Response>) {
  for await (const event of readEvents((await answer).body!))
    if (event.type === "done") return event;
  throw new Error("the turn did not end");
}

const addressOf = ({ port }: Place, session: string) =>
  `http://127.0.0.1:${port}/api/sessions/${session}/messages`;

const send = (place: Place, session: string, text = "Hello.") =>
  done(fetch(addressOf(place, session), post({ text })));

async function say(model: HeldModel, place: Place, session: string) {
  const answered = send(place, session);
  const reply = await Promise.race([model.asked(), answered.then(() => undefined)]);
  reply?.finish();
  return answered;
}

async function usageAt({ port }: Place) {
  const usage = await fetch(`http://127.0.0.1:${port}/api/usage`);
  return (await usage.json()) as { total: { modelCalls: number }; sessions: { name: string }[] };
}

/** All that the cap allows, of which the other one is told. */
async function spend(model: HeldModel, [place, other]: readonly [Place, Place], session: string) {
  expect(await say(model, place, session)).toMatchObject({ outcome: "completed" });
  expect((await send(place, session)).error?.code).toBe("COST_CAP_REACHED");
  const told = async () => (await usageAt(other)).sessions.map(({ name }) => name);
  await expect.poll(told, SOON).toContain(`agent:main:${session}`);
}

async function isAnew(model: HeldModel, place: Place, session: string) {
  const { outcome, cost } = await say(model, place, session);
  expect([outcome, cost?.session.modelCalls]).toEqual(["completed", 1]);
}

async function remove({ home }: Place, session: string) {
  expect((await clew(home, ["sessions", "delete", session, "--yes"])).code).toBe(0);
}

const stop = async ({ child }: Place): Promise<void> => {
  child.kill("SIGTERM");
  await once(child, "exit");
};

describe.skipIf(whyNoPostgres() !== null)(`spending at two gateways ${UNLESS_THERE}`, () => {
  it(
    "of a session counts where the session came from another one, and ends at its cap",
    LIMIT,
    async () => {
      const { model, places } = await twoGateways({ sessionDollars: LITTLE });
      const [one, two] = places as [Place, Place];
      expect(await say(model, one, "main")).toMatchObject({ outcome: "completed" });
      await stop(one);
      expect((await send(two, "main")).error?.code).toBe("COST_CAP_REACHED");
      expect(await say(model, two, "other")).toMatchObject({ outcome: "completed" });
      await send(two, "main", "/new");
      const { outcome, cost } = await say(model, two, "main");
      expect([outcome, cost?.session.modelCalls]).toEqual(["completed", 1]);
    },
  );

  it("begins anew with /new, wherever that is said and the next message comes", LIMIT, async () => {
    const { model, places } = await twoGateways({ sessionDollars: LITTLE });
    const [one, two] = places as [Place, Place];
    for (const [session, place] of [["main", two] as const, ["other", one] as const]) {
      await spend(model, [one, two], session);
      await send(place, session, "/new");
      await isAnew(model, two, session);
    }
  });

  it(
    "begins anew with a deletion, whichever gateway spent and whichever deletes",
    LIMIT,
    async () => {
      const { model, places } = await twoGateways({ sessionDollars: LITTLE });
      const [one, two] = places as [Place, Place];
      await spend(model, [one, two], "main");
      await remove(one, "main");
      await isAnew(model, two, "main");
      await spend(model, [one, two], "other");
      await stop(one);
      await remove(two, "other");
      await isAnew(model, two, "other");
    },
  );

  it("begins anew with a deletion while no gateway of the home runs", LIMIT, async () => {
    const { model, places, plan } = await twoGateways({ sessionDollars: LITTLE });
    const [one, two] = places as [Place, Place];
    await spend(model, [one, two], "main");
    await spend(model, [one, two], "other");
    await stop(one);
    await remove(one, "main");
    await isAnew(model, two, "main");
    await stop(two);
    await remove(two, "other");
    one.child = await startAgain(plan, one);
    await isAnew(model, one, "other");
  });

  it("in a day is of all of them, and ends at the day's cap", LIMIT, async () => {
    const { model, places } = await twoGateways({ dayDollars: LITTLE });
    const [one, two] = places as [Place, Place];
    expect(await say(model, one, "main")).toMatchObject({ outcome: "completed" });
    const told = async () => (await usageAt(two)).total.modelCalls;
    await expect.poll(told, SOON).toBe(1);
    expect((await send(two, "other")).error?.code).toBe("COST_CAP_REACHED");
  });

  it("of a session is told as one sum where no cap is set", LIMIT, async () => {
    const { model, places } = await twoGateways({});
    const [one, two] = places as [Place, Place];
    const first = await say(model, one, "main");
    expect(first.cost?.session.modelCalls).toBe(1);
    await stop(one);
    const { cost } = await say(model, two, "main");
    expect(cost?.session.modelCalls).toBe(2);
    expect(cost?.session.dollars).toBeGreaterThan(first.cost!.session.dollars!);
    const status = await fetch(addressOf(two, "main"), post({ text: "/status" }));
    expect(await status.text()).toContain("for 2 model calls of this session");
  });
});
