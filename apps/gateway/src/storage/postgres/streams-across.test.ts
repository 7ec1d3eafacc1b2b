import { setTimeout as after } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import type { StreamedEvent } from "../../http/event-stream.ts";
import { readPlacedEvents } from "../../http/read-events.ts";
import { listenWithCuts, whatIsHeard } from "../../testing/cut-listener.ts";
import { startTestGateway } from "../../testing/gateway.ts";
import { type HeldModel, heldModel } from "../../testing/held-model.ts";
import { freePort, killPlace, type Place } from "../../testing/killed-gateways.ts";
import { startedPlace } from "../../testing/started-place.ts";
import {
  followTurn,
  piecesOfReplies,
  sayInPieces,
  sendTurn,
  withoutPrompt,
} from "../../testing/turn-stream.ts";

const LONG = { timeout: 180_000 };

const client = (session: string, body: object) => ({
  send: (url: string, since?: string) => sendTurn({ url, session, since }, body),
  follow: (url: string, since?: string) => followTurn({ url, session, since }),
});

async function twoPlaces({ config }: HeldModel): Promise<[Place, Place]> {
  const plan = { databaseUrl: await testDatabase(), deadAfterSeconds: 2, config };
  return Promise.all([startedPlace(plan), startedPlace(plan)]);
}

const urlOf = ({ port }: Place) => `http://127.0.0.1:${port}`;

async function all(response: Response): Promise<StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  for await (const { event } of readPlacedEvents(response.body!)) events.push(event);
  return events;
}

/** Until the first that is as asked for: what was heard, and where that is. */
async function until(response: Response, isIt: (event: StreamedEvent) => boolean) {
  const events: StreamedEvent[] = [];
  for await (const { event, id } of readPlacedEvents(response.body!)) {
    events.push(event);
    if (isIt(event)) return { events, id };
  }
  throw new Error(`not among ${JSON.stringify(events)}`);
}

describe.skipIf(whyNoPostgres() !== null)(`a turn of two gateways ${UNLESS_THERE}`, () => {
  it("is heard whole at any of them, wherever connections break", LONG, async () => {
    const model = await heldModel();
    const url = await testDatabase();
    const start = async () => {
      const port = await freePort();
      const storage = { driver: "postgres", url, address: `http://127.0.0.1:${port}` };
      const config = { ...model.config, storage, door: { enabled: false } };
      return (await startTestGateway(config, undefined, {}, { port })).url;
    };
    const urls = [await start(), await start()];
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        piecesOfReplies(),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.nat(1)), { maxLength: 10 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.nat(1)), { maxLength: 10 }),
        async (steps, sendCuts, followCuts) => {
          const body = { text: "Go.", idempotencyKey: "k" };
          const { send, follow } = client(`s${number++}`, body);
          const at = (cuts: [number, number][], attempt: number) =>
            urls[cuts[attempt]?.[1] ?? attempt % 2]!;
          const whole = all(await send(urls[number % 2]!));
          const first = await model.asked();
          const sender = listenWithCuts({
            ask: (since, attempt) => send(at(sendCuts, attempt), since),
            cuts: sendCuts.map(([count]) => count),
          });
          const follower = listenWithCuts({
            ask: (since, attempt) => follow(at(followCuts, attempt), since),
            cuts: followCuts.map(([count]) => count),
          });
          await sayInPieces(model, steps, { first, pauseMs: 3 });
          const wanted = whatIsHeard(await whole);
          expect(whatIsHeard(await sender)).toEqual(wanted);
          expect(whatIsHeard(await follower).map(withoutPrompt)).toEqual(wanted);
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 10 },
    );
  });

  it(
    "goes on at the other when its own is killed in the midst, and nothing is heard twice",
    LONG,
    async () => {
      const model = await heldModel();
      const [one, two] = await twoPlaces(model);
      const { send, follow } = client("main", { text: "Go.", idempotencyKey: "k" });
      // At its own gateway, which dies; by way of the other; and one who follows there.
      const own = until(await send(urlOf(one)), ({ type }) => type === "tool_end");
      const first = await model.asked();
      first.say("Let me look.");
      first.callTool("nowhere", {});
      const across = all(await send(urlOf(two)));
      const following = all(await follow(urlOf(two)));
      const heard = await own;
      const second = await model.asked();
      second.say("Half of ");
      await until(
        await follow(urlOf(two)),
        (event) => event.type === "text" && event.delta.startsWith("Half"),
      );
      const half = until(
        await send(urlOf(two), heard.id),
        (event) => event.type === "text" && event.delta.startsWith("Half"),
      );
      const { events: behind, id } = await half;
      await killPlace(one);
      const back = all(await send(urlOf(two), id));
      // Some before it goes on, some while it is looked at what is stored, and some behind that.
      const followingBack = [0, 100, 500, 1000, 1500, 2000, 2500].map(async (ms) => {
        await after(ms);
        return all(await follow(urlOf(two), id));
      });
      const again = await model.asked();
      again.say("The whole reply.");
      await after(1000);
      again.finish();
      const [sent, followed] = [await across, await following];
      const wanted = whatIsHeard(sent);
      expect(wanted.flatMap((event) => (event.type === "text" ? [event.delta] : []))).toEqual([
        ...["Let me look.", "The whole reply."],
      ]);
      expect(wanted.filter(({ type }) => type === "message")).toHaveLength(3);
      expect(wanted.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      expect(whatIsHeard(followed).map(withoutPrompt)).toEqual(wanted);
      for (const missed of [await back, ...(await Promise.all(followingBack))]) {
        expect(missed.find(({ type }) => type !== "waiting")).toMatchObject({ type: "restarted" });
        expect(whatIsHeard([...heard.events, ...behind, ...missed])).toEqual(wanted);
      }
    },
  );

  it(
    "goes on at the other when its own is frozen, of which nothing is heard then",
    LONG,
    async () => {
      const model = await heldModel();
      const [one, two] = await twoPlaces(model);
      onTestFinished(() => void one.child.kill("SIGCONT"));
      const { send, follow } = client("main", { text: "Go.", idempotencyKey: "k" });
      const [first, other] = [urlOf(one), urlOf(two)];
      const own = until(await send(first), ({ type }) => type === "text");
      const frozen = await model.asked();
      frozen.say("Half of ");
      await own;
      const [across, following] = [all(await send(other)), all(await follow(other))];
      await until(await follow(other), ({ type }) => type === "text");
      one.child.kill("SIGSTOP");
      const again = await model.asked();
      again.say("The whole reply.");
      one.child.kill("SIGCONT");
      frozen.say("what nobody hears.");
      again.finish();
      const wanted = whatIsHeard(await across);
      expect(wanted.flatMap((event) => (event.type === "text" ? [event.delta] : []))).toEqual([
        "The whole reply.",
      ]);
      expect(wanted.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      expect(whatIsHeard(await following).map(withoutPrompt)).toEqual(wanted);
    },
  );
});
