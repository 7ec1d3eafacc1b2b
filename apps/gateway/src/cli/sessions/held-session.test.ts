import { describe, expect, it } from "vitest";
import { createSessionStore } from "../../sessions/store.ts";
import { clew } from "../../testing/command.ts";
import { startTestGateway } from "../../testing/gateway.ts";
import { heldModel } from "../../testing/held-model.ts";

const idOf = async (home: string, key: string) =>
  (await createSessionStore({ home }).find(key))?.sessionId;

describe("clew sessions, of one that the running gateway has open", () => {
  it("delete takes it away through the gateway, where one can begin it anew", async () => {
    const { home, say } = await startTestGateway();
    await say("hello", { session: "r5" });
    const before = await idOf(home, "r5");
    expect(await clew(home, ["sessions", "delete", "r5", "--yes"])).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^Deleted 1 session \(r5\)/),
    });
    expect(await idOf(home, "r5")).toBeUndefined();
    await say("hello again", { session: "r5" });
    expect(await idOf(home, "r5")).not.toBe(before);
  });

  it("compact, its --dry-run and undo-compaction answer as in the chat", async () => {
    const { home, say } = await startTestGateway({
      agents: { defaults: { contextTokens: 32_000, compaction: { keepRecentTokens: 4000 } } },
    });
    for (let count = 1; count <= 6; count++)
      await say(`Note ${count}: ${"the boat waited for the tide. ".repeat(150)}`);
    const run = (...args: string[]) => clew(home, ["sessions", ...args]);
    expect(await run("compact", "main", "--dry-run")).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^Would summarise/),
    });
    const done = await run("compact", "main", "--focus", "undo", "--json");
    expect(JSON.parse(done.output)).toMatchObject({ ok: true, text: expect.stringContaining("→") });
    expect((await run("undo-compaction", "main", "--dry-run")).output).toMatch(/^Would undo/);
    expect((await run("undo-compaction", "main")).output).toMatch(/^Undone: /);
    expect((await run("undo-compaction", "main")).code).toBe(1);
  });

  it("a running reply alone refuses, and says so", async () => {
    const { config, asked } = await heldModel();
    const { home, say } = await startTestGateway(config);
    const said = say("hello");
    const reply = await asked();
    const refused = await clew(home, ["sessions", "delete", "main", "--yes"]);
    expect([refused.code, refused.errors]).toEqual([
      1,
      expect.stringContaining('Session "main" stays: a reply is being written in it'),
    ]);
    for (const command of ["compact", "undo-compaction"])
      expect(await clew(home, ["sessions", command, "main"])).toMatchObject({
        code: 1,
        output: expect.stringContaining("A reply is being written in this session"),
      });
    reply.say("hi");
    reply.finish();
    await said;
    expect((await clew(home, ["sessions", "delete", "main", "--yes"])).code).toBe(0);
  });

  it("over HTTP only the person of the home deletes one", async () => {
    const { home, say, get } = await startTestGateway();
    await say("hello");
    expect((await get("/api/sessions/main", { method: "DELETE" })).status).toBe(403);
    expect(await idOf(home, "main")).toBeDefined();
  });
});
