// Clients of the door whose requests go to any of several gateways.
import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { DOOR_APIS } from "../../config/door.ts";
import type { Said } from "../../door/testing/conversation.ts";
import type { DoorApi } from "../../door/wires/door-wire.ts";
import { ask, person, type Sent } from "../../testing/door-client.ts";
import { startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import {
  freePort,
  type Place,
  startAgain,
  startPlace,
  stopPlace,
} from "../../testing/killed-gateways.ts";

/** More of them by CLEW_KILLS=200. */
const KILLS = Math.ceil(Number(process.env.CLEW_KILLS ?? 20) / 5);
const DEAD_AFTER_S = 2;

type Asked = Pick<TestGateway, "get">;
const at = ({ port }: Pick<Place, "port">): Asked => ({
  get: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init),
});

/** An agent that brings all of its history with each request, whoever it asks. */
class Agent {
  readonly said: Said[] = [];
  readonly texts: string[] = [];
  readonly sessions = new Set<string>();
  repeated = 0;
  readonly api: DoorApi;
  readonly name: string;
  constructor(api: DoorApi, name: string) {
    this.api = api;
    this.name = name;
  }

  async turn(gateways: readonly Asked[], text: string, sent: Sent = {}): Promise<void> {
    this.said.push(person(text));
    for (let attempt = 0; ; attempt++) {
      const gateway = gateways[attempt % gateways.length]!;
      const reply = await ask(gateway, this.api, this.said, { tools: ["read"], ...sent }).catch(
        () => undefined,
      );
      if (reply?.error === null && reply.answer.ok && reply.text !== "") {
        this.sessions.add(reply.answer.headers.get("x-clew-session") ?? "none");
        this.said.push({ uid: null, by: "model", text: reply.text, calls: [] });
        this.texts.push(text, reply.text);
        return;
      }
      if (attempt > 300) throw new Error(`${this.name} is not answered: ${reply?.body}`);
      this.repeated++;
      await after(100);
    }
  }
}

interface Entry {
  message?: { role: string; content: string | { type: string; text?: string }[] };
}

/** What stands in a session, as a gateway shows it. */
async function textsIn(gateway: Asked, session: string): Promise<string[]> {
  const response = await gateway.get(`/api/sessions/${encodeURIComponent(session)}?limit=100000`);
  const { entries = [] } = (await response.json()) as { entries?: Entry[] };
  return entries.flatMap(({ message }) => {
    if (message === undefined) return [];
    const { content } = message;
    const text =
      typeof content === "string"
        ? content
        : content.flatMap((block) => (block.type === "text" ? [block.text ?? ""] : [])).join("");
    return [text];
  });
}

const sessionsIn = async (gateway: Asked) =>
  ((await (await gateway.get("/api/sessions")).json()) as { sessions: { key: string }[] }).sessions;

describe.skipIf(whyNoPostgres() !== null)(
  `the door of several gateways of one database ${UNLESS_THERE}`,
  () => {
    async function startTwo(url: string, config: Record<string, unknown> = {}) {
      const start = async () => {
        const port = await freePort();
        const storage = { driver: "postgres", url, address: `http://127.0.0.1:${port}` };
        return startTestGateway({ ...config, storage }, undefined, {}, { port });
      };
      return [await start(), await start()] as const;
    }

    it.each(DOOR_APIS)(
      "knows a conversation of %s at whichever gateway it goes on, streamed or not",
      async (api) => {
        const gateways = await startTwo(await testDatabase());
        const agent = new Agent(api, "alternating");
        for (let turn = 0; turn < 6; turn++)
          await agent.turn([gateways[turn % 2]!], `Question ${turn} of ${api}.`, {
            streaming: turn % 3 === 0,
          });
        expect(agent.repeated).toBe(0);
        expect(agent.sessions.size).toBe(1);
        const [session] = agent.sessions;
        for (const gateway of gateways)
          await expect.poll(() => textsIn(gateway, session!)).toEqual(agent.texts);
        expect(await sessionsIn(gateways[1])).toHaveLength(1);
      },
    );

    it("goes on at the other gateway when the one that has it stops, and when it is started again", async () => {
      const url = await testDatabase();
      const [one, two] = await startTwo(url);
      const agent = new Agent("anthropic-messages", "moved");
      for (let turn = 0; turn < 3; turn++) await agent.turn([one], `Question ${turn}.`);
      await one.stop();
      for (let turn = 3; turn < 6; turn++) await agent.turn([two], `Question ${turn}.`);
      await two.stop();
      const [three] = await startTwo(url);
      await agent.turn([three], "Question 6.");
      expect([agent.repeated, agent.sessions.size]).toEqual([0, 1]);
      await expect.poll(() => textsIn(three, [...agent.sessions][0]!)).toEqual(agent.texts);
    });

    it("answers in a session of Clew's own where that is open", async () => {
      const [one, two] = await startTwo(await testDatabase());
      await two.say("My cat is called Minka.", { session: "cats" });
      const sent = { session: "cats" };
      const asked = (gateway: Asked, text: string) =>
        ask(gateway, "openai-completions", [person(text)], sent);
      expect((await asked(one, "What is my cat called?")).text).toContain("Minka");
      expect((await asked(two, "And again?")).error).toBeNull();
      expect((await textsIn(one, "cats")).filter((_, place) => place % 2 === 0)).toEqual([
        ...["My cat is called Minka.", "What is my cat called?", "And again?"],
      ]);
    });

    it("says what a person says on another gateway's page, and stores what its client says then", async () => {
      const [one, two] = await startTwo(await testDatabase());
      const agent = new Agent("openai-completions", "watched");
      await agent.turn([one], "Question 0.");
      const [session] = [...agent.sessions];
      const { events } = await two.say("From the page.", { session: session! });
      expect(events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      await agent.turn([two], "Question 1.");
      const texts = await textsIn(one, session!);
      for (const text of ["Question 0.", "From the page.", "Question 1."])
        expect(texts.filter((each) => each === text)).toHaveLength(1);
    });

    it("waits for a session that another gateway has as a guest, and stores all of it", async () => {
      const url = await testDatabase();
      const [one, two] = await startTwo(url);
      const agent = new Agent("openai-responses", "visited");
      await agent.turn([one], "Question 0.");
      await one.stop();
      const [session] = [...agent.sessions];
      await two.say("From the page.", { session: session! });
      const [three] = await startTwo(url);
      await agent.turn([three], "Question 1.");
      await agent.turn([two], "Question 2.");
      const texts = await textsIn(two, session!);
      for (const text of ["Question 0.", "From the page.", "Question 1.", "Question 2."])
        expect(texts.filter((each) => each === text)).toHaveLength(1);
      expect([agent.repeated, agent.sessions.size]).toEqual([0, 1]);
    });

    it("loses nothing and doubles nothing of any conversation, whichever gateway is killed", {
      timeout: 120_000 + KILLS * 15_000,
    }, async () => {
      const plan = {
        ...{ databaseUrl: await testDatabase(), deadAfterSeconds: DEAD_AFTER_S },
        config: { door: { enabled: true } },
      };
      const places = [await startPlace(plan), await startPlace(plan)];
      const agents = DOOR_APIS.map((api, number) => new Agent(api, `agent ${number}`));
      let isOver = false;
      try {
        const talking = Promise.all(
          agents.map(async (agent, number) => {
            for (let turn = 0; !isOver; turn++) {
              const order = turn % 2 === 0 ? places : places.toReversed();
              await agent.turn(order.map(at), `Question ${turn} of agent ${number}.`, {
                streaming: turn % 2 === 1,
              });
              await after(10);
            }
          }),
        );
        for (let kill = 0; kill < KILLS; kill++) {
          await Promise.race([after(1500 + 1500 * Math.random()), talking]);
          const place = places[kill % 2]!;
          place.child.kill("SIGKILL");
          await once(place.child, "exit");
          place.child = await startAgain(plan, place);
        }
        isOver = true;
        await talking;
        for (const agent of agents) await agent.turn(places.map(at), "And at last?");
        expect(agents.some(({ repeated }) => repeated > 0)).toBe(true);
        for (const agent of agents) {
          expect([agent.name, [...agent.sessions].length]).toEqual([agent.name, 1]);
          const [session] = agent.sessions;
          // A reply is stored behind its end.
          await expect
            .poll(() => textsIn(at(places[0]!), session!), { timeout: 10_000 })
            .toEqual(agent.texts);
        }
        expect(await sessionsIn(at(places[1]!))).toHaveLength(agents.length);
      } finally {
        isOver = true;
        await Promise.all(places.map(stopPlace));
      }
    });
  },
);
