import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { post, startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";

describe.skipIf(whyNoPostgres() !== null)(`a gateway on PostgreSQL ${UNLESS_THERE}`, () => {
  async function world() {
    const url = await testDatabase();
    let port = 0;
    const start = async (home?: string) => {
      const storage = { driver: "postgres", url, address: `http://127.0.0.1:${++port}` };
      const config = { storage, door: { enabled: false } };
      return startTestGateway(config, home ?? (await temporaryHome()));
    };
    return { url, start };
  }
  const json = async (gateway: TestGateway, path: string) => (await gateway.get(path)).json();
  /** What is told of a session, but for where its copy is. */
  async function told(gateway: TestGateway, session = "main") {
    const { file: _here, ...page } = await json(gateway, `/api/sessions/${session}`);
    const context = await json(gateway, `/api/sessions/${session}/context`);
    const calls = await json(gateway, `/api/sessions/${session}/calls`);
    return { page, context, calls };
  }
  const keysOf = async (gateway: TestGateway) =>
    (await json(gateway, "/api/sessions")).sessions.map(({ key }: { key: string }) => key);
  const command = async (gateway: TestGateway, name: string, args = "") =>
    gateway.gateway.command("main", { kind: "command", name, args });

  it("keeps sessions there alone: another home tells the same of them, and goes on", async () => {
    const { start } = await world();
    const first = await start();
    const turn = await first.say("My cat is called Minka.");
    expect(turn.events.at(-1)).toMatchObject({ type: "done" });
    await first.say("And my dog is called Rex.");
    await first.say("Elsewhere.", { session: "other" });
    const before = await told(first);
    expect(JSON.stringify(before.page)).toContain("Minka");
    expect(before.calls.calls).toHaveLength(2);
    await first.stop();
    const kept = readdirSync(join(first.home, "agents/main"));
    expect(kept.filter((name) => ["sessions", "reports", "outbox"].includes(name))).toEqual([]);

    const second = await start();
    expect(await keysOf(second)).toEqual(["agent:main:other", "agent:main:main"]);
    expect(await told(second)).toEqual(before);
    await second.say("What is my cat called?");
    const after = await told(second);
    expect(after.calls.calls).toHaveLength(3);
    await second.stop();

    const again = await start(first.home);
    expect(await told(again)).toEqual(after);
  });

  it("makes its copies anew where they are gone, and reads of them what was said since", async () => {
    const { start } = await world();
    const one = await start();
    for (const text of ["one", "two"]) await one.say(text);
    const before = await told(one);
    await one.stop();
    rmSync(join(one.home, "copies"), { recursive: true });
    const again = await start(one.home);
    expect(await told(again)).toEqual(before);
    await again.say("three");
    expect((await told(again)).calls.calls).toHaveLength(3);
  });

  it("takes a turn back, begins anew and deletes as on files", async () => {
    const { start } = await world();
    const one = await start();
    for (const text of ["first", "second", "third"]) await one.say(text);
    expect(await command(one, "undo")).toMatchObject({ ok: true });
    await one.say("fourth");
    const whole = await told(one);
    expect(JSON.stringify(whole.page)).not.toContain("third");
    await one.stop();
    const two = await start();
    expect(await told(two)).toEqual(whole);
    expect(await command(two, "new")).toMatchObject({ ok: true });
    await two.say("anew");
    const [fresh, archived] = await keysOf(two);
    expect([fresh, archived]).toEqual(["agent:main:main", expect.stringMatching(/main\.\d{8}-/)]);
    await two.gateway.remove("main");
    expect(await keysOf(two)).toEqual([archived]);
    expect((await told(two, encodeURIComponent(archived!))).calls).toEqual(whole.calls);
  });

  it("shows a session that another has, and tells what that says to a message which is kept for it", async () => {
    const { start } = await world();
    const [one, two] = [await start(), await start()];
    await one.say("Here I am.");
    const refused = await two.get("/api/sessions/main/messages", post({ text: "/status" }));
    expect(await refused.json()).toMatchObject({ error: { code: "SESSION_LOCKED" } });
    // Nobody reaches it, and it lives.
    await one.gateway.waiting.resume();
    const { events } = await two.say("And I?");
    expect(events.map(({ type }) => type)).toEqual([
      ...["queued", "waiting", "accepted", "message", "done"],
    ]);
    expect(await told(two)).toEqual(await told(one));
    await one.say("Still here.");
    expect(await told(two)).toEqual(await told(one));
    await one.stop();
    await two.say("Now I am.");
    expect((await told(two)).calls.calls).toHaveLength(4);
  });
});
