import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { post, startTestGateway } from "../../testing/gateway.ts";
import {
  freePort,
  isSaid,
  killGatewaysOverHttp,
  startPlace,
  stopPlace,
} from "../../testing/killed-gateways.ts";

describe.skipIf(whyNoPostgres() !== null)(`two gateways of one database ${UNLESS_THERE}`, () => {
  it("lose and double no message, whichever is asked, and whichever is killed", {
    timeout: 240_000,
  }, async () => {
    const result = await killGatewaysOverHttp({
      ...{ databaseUrl: await testDatabase(), sessions: 4, messages: 30 },
      ...{ kills: 2, killEveryMs: 1000, deadAfterSeconds: 2 },
    });
    const { lost, doubled, misplaced } = result;
    expect({ lost, doubled, misplaced }).toEqual({ lost: [], doubled: [], misplaced: [] });
    expect(result.acknowledged).toBe(4 * 30);
    expect(result.repeated).toBeGreaterThan(0);
  });

  it("hand what changes a session on to the one that has it, once", async () => {
    const url = await testDatabase();
    const start = async () => {
      const port = await freePort();
      const storage = { driver: "postgres", url, address: `http://127.0.0.1:${port}` };
      const config = { storage, door: { enabled: false } };
      return startTestGateway(config, undefined, {}, { port });
    };
    const [one, two] = [await start(), await start()];
    await one.say("Here.");
    const linesOf = async ({ get }: typeof one) => {
      const file = await (await get("/api/sessions/main/transcript")).text();
      return file
        .trim()
        .split("\n")
        .map((line): unknown => JSON.parse(line));
    };
    expect(await linesOf(two)).toEqual(await linesOf(one));
    const { events } = await two.say("And from elsewhere.");
    expect(JSON.stringify(await linesOf(two))).toContain("And from elsewhere.");
    expect(await linesOf(two)).toEqual(await linesOf(one));
    expect(events.at(-1)).toMatchObject({ type: "done" });
    expect(JSON.stringify(await (await one.get("/api/sessions/main")).json())).toContain(
      "And from elsewhere.",
    );
    expect((await one.gateway.sessions())[0]).toMatchObject({ key: "agent:main:main" });
    const hopping = post({ text: "Around." });
    const headers = { ...(hopping.headers as object), "x-clew-hop": "1" };
    const refused = await two.get("/api/sessions/main/messages", { ...hopping, headers });
    expect(refused.status).toBe(409);
    const { error } = await refused.json();
    expect(error).toMatchObject({ code: "SESSION_LOCKED" });
    expect(error.message).toContain(one.url);
    expect((await two.get("/api/sessions/main/abort", { method: "POST" })).status).toBe(200);
    await one.stop();
    await two.say("Now here.");
    expect((await (await two.get("/api/sessions/main/calls")).json()).calls).toHaveLength(3);
  });

  it("end where the database did not hear of them for too long", { timeout: 120_000 }, async () => {
    const plan = { databaseUrl: await testDatabase(), deadAfterSeconds: 1 };
    const place = await startPlace(plan);
    try {
      expect(await isSaid(place.port, "s0", "before")).toBe(true);
      place.child.kill("SIGSTOP");
      await after(2000);
      place.child.kill("SIGCONT");
      const [code] = await once(place.child, "exit");
      expect(code).toBe(1);
    } finally {
      await stopPlace(place);
    }
  });
});
