import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { clew } from "../../testing/command.ts";
import { startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";
import { freePort } from "../../testing/killed-gateways.ts";
import { obedientModel, run } from "../../testing/obedient-model.ts";

const SOON = { timeout: 60_000, interval: 50 };

async function gateways() {
  const url = await testDatabase();
  const { config } = await obedientModel({ enabled: true });
  const start = async () => {
    const port = await freePort();
    const storage = { driver: "postgres", url, address: `http://127.0.0.1:${port}` };
    const home = await temporaryHome();
    await writeFile(join(home, "clew.json"), JSON.stringify({ ...config, storage }));
    return startTestGateway({ ...config, storage }, home, {}, { port });
  };
  return { one: await start(), two: await start() };
}

const rows = async ({ get }: TestGateway) =>
  (await (await get("/api/sessions")).json()).sessions.map(
    ({ key, depth, child }: { key: string; depth: number; child: object | null }) => ({
      ...{ key, depth, child },
    }),
  );

describe.skipIf(whyNoPostgres() !== null)(`sessions that others started ${UNLESS_THERE}`, () => {
  it("are known to their parent at the gateway that takes it over, and told by every list", async () => {
    const { one, two } = await gateways();
    await one.say(run("sessions_spawn", { task: "Look.", label: "kid", wait: true }));
    const told = await rows(one);
    expect(told).toMatchObject([
      { key: "agent:main:main", depth: 0, child: null },
      { depth: 1, child: { parent: "agent:main:main", label: "kid", state: "completed" } },
    ]);
    expect(await rows(two)).toEqual(told);
    const listed = async ({ home }: TestGateway) =>
      JSON.parse((await clew(home, ["sessions", "list", "--json"])).output).sessions.map(
        ({ key, depth, child }: { key: string; depth: number; child: object }) => ({
          ...{ key, depth, child },
        }),
      );
    for (const gateway of [one, two]) expect(await listed(gateway)).toEqual(told);
    await one.stop();
    const kid = told[1].key as string;
    expect((await two.say(run("sessions_list", {}))).text).toContain(`${kid} "kid" · completed`);
    const asked = await two.say(run("sessions_history", { sessionKey: kid }));
    expect(asked.text).toContain("Look.");
    const sent = run("sessions_send", { sessionKey: kid, message: "Again.", waitSeconds: 30 });
    expect((await two.say(sent)).text).toContain("Again.");
  });

  it("run as long as their gateway does, whichever is asked, and their end is told elsewhere", async () => {
    const { one, two } = await gateways();
    await one.say(run("sessions_spawn", { task: "HANG", label: "kid" }));
    const states = async (gateway: TestGateway) =>
      (await rows(gateway)).flatMap(({ child }: { child: { state: string } | null }) =>
        child === null ? [] : [child.state],
      );
    await expect.poll(() => states(two), SOON).toEqual(["running"]);
    expect(await states(one)).toEqual(["running"]);
    await one.stop();
    await expect.poll(() => states(two), SOON).toEqual(["cancelled"]);
    const { text } = await two.say("Anything new?");
    expect(text).toContain("Anything new?");
    const { messages } = await (await two.get("/api/sessions/main/messages")).json();
    const announced = JSON.stringify(messages).match(/kid/g) ?? [];
    expect(announced.length).toBeGreaterThan(1);
    await two.say("And now?");
    const later = await (await two.get("/api/sessions/main/messages")).json();
    expect(JSON.stringify(later.messages).match(/kid/g)).toHaveLength(announced.length);
  });
});
