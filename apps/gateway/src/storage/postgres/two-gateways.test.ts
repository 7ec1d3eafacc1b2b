import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { clew } from "../../testing/command.ts";
import { ask, person } from "../../testing/door-client.ts";
import { post, startTestGateway } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";
import {
  freePort,
  isSaid,
  killGatewaysOverHttp,
  startPlace,
  stopPlace,
} from "../../testing/killed-gateways.ts";
import { obedientModel, run } from "../../testing/obedient-model.ts";

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

  it("give a session in the same bytes, whichever has it, as an export does", async () => {
    const url = await testDatabase();
    const start = async () => {
      const port = await freePort();
      const storage = { driver: "postgres", url, address: `http://127.0.0.1:${port}` };
      const home = await temporaryHome();
      const { config, server } = await obedientModel({ enabled: true });
      const all = { ...config, storage };
      await writeFile(join(home, "clew.json"), JSON.stringify(all));
      return { ...(await startTestGateway(all, home, {}, { port })), server };
    };
    const [one, two] = [await start(), await start()];
    for (const text of [
      ...[
        "Here.",
        run("sessions_spawn", { task: "Look.", contextMode: "fork" }),
        "/undo",
        "Again.",
        "/think low",
        "From elsewhere.",
      ],
    ])
      await (text === "From elsewhere." ? two : one).say(text);
    await clew(one.home, ["sessions", "fork", "main", "other"]);
    const { sessions } = await (await one.get("/api/sessions")).json();
    expect(sessions).toHaveLength(3);
    for (const { key: name } of sessions) {
      const bytesAt = async ({ get }: typeof one) =>
        (await get(`/api/sessions/${encodeURIComponent(name)}/transcript`)).text();
      const bytes = await bytesAt(one);
      expect(bytes.split("\n").length).toBeGreaterThan(3);
      expect(await bytesAt(two)).toBe(bytes);
      for (const { home } of [one, two]) {
        const { output } = await clew(home, ["sessions", "export", name, "--as", "jsonl"]);
        expect(`${output.trimEnd()}\n`).toBe(bytes);
      }
    }
  });

  it("tell the same list, with what was said first, whichever has the sessions", async () => {
    const url = await testDatabase();
    const start = async () => {
      const port = await freePort();
      const storage = { driver: "postgres", url, address: `http://127.0.0.1:${port}` };
      return startTestGateway({ storage }, undefined, {}, { port });
    };
    const [one, two] = [await start(), await start()];
    await one.say("The lantern of the harbour is dark.");
    await two.say("Who feeds the cat?", { session: "cat" });
    await ask(one, "anthropic-messages", [person("Mend the fence.")], { tools: ["read"] });
    // What the door knows of it is written behind the reply.
    const list = async ({ get }: typeof one, find = "") =>
      (await (await get(`/api/sessions?limit=10&find=${find}`)).json()).sessions.map(
        ({ key, firstWords, client }: Record<string, string>) => ({ key, firstWords, client }),
      );
    const words = async (gateway: typeof one) =>
      (await list(gateway)).map(({ firstWords }: { firstWords: string }) => firstWords).sort();
    const expected = [
      "Mend the fence.",
      "The lantern of the harbour is dark.",
      "Who feeds the cat?",
    ];
    await expect.poll(() => words(one)).toEqual(expected);
    await expect.poll(() => words(two)).toEqual(expected);
    expect(await list(two)).toEqual(await list(one));
    for (const find of ["harbour", "feeds", "fence"])
      for (const gateway of [one, two]) expect(await list(gateway, find)).toHaveLength(1);
    const config = { storage: { driver: "postgres", url } };
    const home = await temporaryHome();
    await writeFile(join(home, "clew.json"), JSON.stringify(config));
    const { output } = await clew(home, ["sessions", "list", "--json", "--find", "fence"]);
    expect(JSON.parse(output).sessions).toMatchObject([{ firstWords: "Mend the fence." }]);
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
