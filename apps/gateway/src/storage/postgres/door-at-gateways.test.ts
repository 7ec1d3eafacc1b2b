// Clients of the door whose requests go to any of several gateways.
import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";
import { createEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { DOOR_APIS } from "../../config/door.ts";
import type { DoorApi } from "../../door/wires/door-wire.ts";
import { ask, person } from "../../testing/door-client.ts";
import { startTestGateway } from "../../testing/gateway.ts";
import { freePort, startAgain, startPlace, stopPlace } from "../../testing/killed-gateways.ts";
import {
  type AskedGateway,
  gatewayAt,
  textsIn,
  WanderingAgent,
} from "../../testing/wandering-agent.ts";

/** More of them by CLEW_KILLS=200. */
const KILLS = Math.ceil(Number(process.env.CLEW_KILLS ?? 20) / 5);
const DEAD_AFTER_S = 2;
const PATIENT = { timeout: 20_000 };

const sessionsIn = async (gateway: AskedGateway) =>
  ((await (await gateway.get("/api/sessions")).json()) as { sessions: { key: string }[] }).sessions;

const MODELS: Record<DoorApi, string> = {
  "openai-completions": "gpt-test",
  "openai-responses": "gpt-test",
  "anthropic-messages": "claude-test",
  "google-generative-ai": "gemini-2.5-flash",
};

/** Settings with a model of each wire, which calls a tool for each question. */
async function modelsThatCall(): Promise<Record<string, unknown>> {
  const providers: Record<string, unknown> = {};
  const upstreams: Record<string, unknown> = {};
  for (const api of DOOR_APIS) {
    const server = await createEmulator(api, {
      tolerant: true,
      answers({ text }) {
        const [, turn, agent] = [...text.matchAll(/Question (\d+) of agent (\d+)/g)].at(-1) ?? [];
        const slowly = { chunkChars: 8, pauseMs: 10 };
        if (text.lastIndexOf("result of") > text.lastIndexOf("Question "))
          return { text: `Answer ${turn} for agent ${agent}.`, ...slowly };
        const args = { path: `src/${agent}/${turn}.ts` };
        return { text: `Look ${turn}.`, toolCalls: [{ name: "read", arguments: args }], ...slowly };
      },
    });
    onTestFinished(() => server.close());
    const model = { id: MODELS[api], contextWindow: 1_000_000, maxTokens: 2000, reasoning: false };
    providers[`far-${api}`] = { baseUrl: server.baseUrl, api, apiKey: "key", models: [model] };
    upstreams[api] = { models: { theirs: `far-${api}/${MODELS[api]}` } };
  }
  return { models: { providers }, door: { enabled: true, upstreams } };
}

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
        const agent = new WanderingAgent(api, "alternating");
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
      const agent = new WanderingAgent("anthropic-messages", "moved");
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
      const asked = (gateway: AskedGateway, text: string) =>
        ask(gateway, "openai-completions", [person(text)], sent);
      expect((await asked(one, "What is my cat called?")).text).toContain("Minka");
      expect((await asked(two, "And again?")).error).toBeNull();
      expect((await textsIn(one, "cats")).filter((_, place) => place % 2 === 0)).toEqual([
        ...["My cat is called Minka.", "What is my cat called?", "And again?"],
      ]);
    });

    it("says what a person says on another gateway's page, and stores what its client says then", async () => {
      const [one, two] = await startTwo(await testDatabase());
      const agent = new WanderingAgent("openai-completions", "watched");
      await agent.turn([one], "Question 0.");
      const [session] = [...agent.sessions];
      const { events } = await two.say("From the page.", { session: session! });
      expect(events.at(-1)).toMatchObject({ type: "done", outcome: "completed" });
      await agent.turn([two], "Question 1.");
      const texts = await textsIn(one, session!);
      for (const text of ["Question 0.", "From the page.", "Question 1."])
        expect(texts.filter((each) => each === text)).toHaveLength(1);
    });

    it("begins anew, with all of it, what goes on in a session that another gateway deleted", async () => {
      const limits = { openSessionBytes: 2 ** 20 };
      const [one, two] = await startTwo(await testDatabase(), { gateway: { limits } });
      const agent = new WanderingAgent("anthropic-messages", "deleted");
      for (let turn = 0; turn < 2; turn++) await agent.turn([one], `Question ${turn}.`);
      const [deleted] = [...agent.sessions];
      // Beside others that are so long, it does not stay open.
      const long = "A word. ".repeat(60_000);
      for (const name of ["one", "two", "three"])
        await new WanderingAgent("anthropic-messages", name).turn([one], `${name}: ${long}`);
      await expect
        .poll(
          () =>
            two.gateway.remove(deleted!).then(
              () => "deleted",
              ({ code }) => code,
            ),
          PATIENT,
        )
        .toBe("deleted");
      await agent.turn([one], "Question 2.");
      const [, begun] = [...agent.sessions];
      expect([agent.repeated, agent.sessions.size]).toEqual([0, 2]);
      await expect.poll(() => textsIn(two, begun!)).toEqual(agent.texts);
      expect((await sessionsIn(two)).map(({ key }) => key)).not.toContain(deleted);
    });

    it("waits for a session that another gateway has as a guest, and stores all of it", async () => {
      const url = await testDatabase();
      const [one, two] = await startTwo(url);
      const agent = new WanderingAgent("openai-responses", "visited");
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
        config: await modelsThatCall(),
      };
      const places = [await startPlace(plan), await startPlace(plan)];
      const agents = DOOR_APIS.map((api, number) => new WanderingAgent(api, `agent ${number}`));
      let isOver = false;
      try {
        const talking = Promise.all(
          agents.map(async (agent, number) => {
            for (let turn = 0; !isOver; turn++) {
              const order = turn % 2 === 0 ? places : places.toReversed();
              await agent.turn(order.map(gatewayAt), `Question ${turn} of agent ${number}.`, {
                ...{ streaming: turn % 2 === 1, model: "theirs" },
              });
              await after(10);
            }
          }),
        );
        for (let kill = 0; kill < KILLS; kill++) {
          await Promise.race([after(1500 + 1500 * Math.random()), talking]);
          const place = places[kill % 2]!;
          const isFrozen = kill % 4 === 3;
          place.child.kill(isFrozen ? "SIGSTOP" : "SIGKILL");
          // Who is frozen for too long ends by itself when it wakes.
          if (isFrozen) await after(DEAD_AFTER_S * 1500);
          if (isFrozen) place.child.kill("SIGCONT");
          await once(place.child, "exit");
          place.child = await startAgain(plan, place);
        }
        isOver = true;
        await talking;
        for (const agent of agents)
          await agent.turn(places.map(gatewayAt), "Question 0 of agent 9?", { model: "theirs" });
        expect(agents.some(({ repeated }) => repeated > 0)).toBe(true);
        for (const agent of agents) {
          expect([agent.name, [...agent.sessions].length]).toEqual([agent.name, 1]);
          const [session] = agent.sessions;
          // A reply is stored behind its end.
          await expect
            .poll(() => textsIn(gatewayAt(places[0]!), session!), { timeout: 10_000 })
            .toEqual(agent.texts);
        }
        expect(await sessionsIn(gatewayAt(places[1]!))).toHaveLength(agents.length);
      } finally {
        isOver = true;
        await Promise.all(places.map(stopPlace));
      }
    });
  },
);
