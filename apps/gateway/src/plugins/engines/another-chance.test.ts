// What is seen of an engine that did not take a session's turns, and how it gets another chance.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { engineCode, startServedGateway, writePlugin } from "../../testing/plugins.ts";

/** An engine that cannot take a turn with the word "poison" while the file `sick` is there. */
async function startSickGateway(failurePolicy: "quarantine" | "retry-next-turn") {
  const home = await temporaryHome();
  const sick = join(home, "sick");
  writeFileSync(sick, "");
  const code = engineCode(
    "picky",
    `afterTurn: async ({ messages, prePromptMessageCount }) => {
      const fresh = messages.slice(prePromptMessageCount).map(({ content }) => JSON.stringify(content));
      if (existsSync(${JSON.stringify(sick)}) && fresh.some((text) => text.includes("poison")))
        throw new Error("indigestible");
      appendFileSync(${JSON.stringify(join(home, "taken"))}, fresh.join("\\n") + "\\n");
    },`,
  );
  const folder = writePlugin(join(home, "sources/picky"), {
    id: "picky",
    code: `import { appendFileSync, existsSync } from "node:fs";\n${code}`,
  });
  const config = {
    gateway: { port: 0 },
    plugins: {
      load: { paths: [folder] },
      slots: { contextEngine: "picky" },
      entries: { picky: { failurePolicy } },
    },
  };
  writeFileSync(join(home, "clew.json"), JSON.stringify(config));
  const served = await startServedGateway(config, home);
  const taken = () => {
    const file = join(home, "taken");
    return existsSync(file) && readFileSync(file, "utf8").includes("poison");
  };
  return { ...served, home, taken, heal: () => rmSync(sick) };
}

const FAILED =
  'Engine "picky" failed (afterTurn: indigestible, at index.js:10); another one answers.';

describe("an engine that failed with the data of one session", () => {
  it("is seen to be set aside there and nowhere else, and answers again when it is asked to", async () => {
    const { say, gateway, get, home, heal } = await startSickGateway("quarantine");
    const { events } = await say("poison");
    expect(events).toContainEqual({ type: "notice", text: FAILED });
    expect((await say("/status")).text).toContain(
      'Engine: legacy, because "picky" failed (afterTurn: indigestible, at index.js:10)',
    );
    const said = (await say("/engine")).text;
    expect(said).toContain(
      "The chosen one does not run in this session: it failed (afterTurn: indigestible, at index.js:10).",
    );
    expect(said).toContain("Of this session, 1 turn is still to be handed to it");
    expect(said.split("\n").at(-1)).toBe(
      '"/engine retry" gives it another chance in this session.',
    );
    expect(await get("/api/engine?session=main")).toMatchObject({
      engineId: "legacy",
      session: {
        key: "agent:main:main",
        setAside: { operation: "afterTurn", scope: { kind: "session" } },
        deliveries: { pending: 1, blocked: [] },
      },
    });
    expect(await get("/api/engine")).toMatchObject({ engineId: "picky", session: null });
    expect(await get("/api/engine?session=other")).toMatchObject({
      engineId: "picky",
      session: { setAside: null },
    });
    expect((await clew(home, ["doctor"])).output).toContain(
      '"picky" has been set aside for session main because it failed in afterTurn: indigestible, at index.js:10; another chance: clew engine retry main',
    );

    heal();
    expect(await clew(home, ["engine", "retry", "main"])).toMatchObject({
      code: 0,
      output: '"picky" is no longer set aside for this session.\nThe next message tries it.',
    });
    expect(await gateway.send({ key: "main", content: "hello" })).toMatchObject({
      report: { engine: { ran: "picky", degraded: null } },
    });
    expect(await get("/api/engine?session=main")).toMatchObject({
      session: { setAside: null, deliveries: { pending: 0 } },
    });
    expect((await say("/engine retry")).text).toBe("There is nothing to retry in this session.");
    expect((await say("/engine repeat")).text).toMatch(/is not known; "\/engine" shows/);
  });
});

describe("a turn that an engine refused too often", () => {
  it("is seen everywhere, and offered again on request, with a gateway and without", async () => {
    const { say, get, home, heal, taken, stop, server } = await startSickGateway("retry-next-turn");
    for (const text of ["poison", "one", "two"]) await say(text);
    const said = (await say("/engine")).text;
    expect(said).toContain(
      "Parked: 1 turn of this session that it refused too often (indigestible, at index.js:10)",
    );
    const { session } = await get<{ session: { deliveries: { blocked: unknown[] } } }>(
      "/api/engine?session=main",
    );
    expect(session.deliveries.blocked).toMatchObject([
      { attempts: 3, reason: "indigestible, at index.js:10" },
    ]);
    expect((await clew(home, ["doctor"])).output).toContain(
      'warning  session main: "picky" refused 1 turn too often (indigestible, at index.js:10); offer it again: clew engine retry main',
    );
    const retried = await fetch(`${server.url}/api/sessions/main/engine/retry`, { method: "POST" });
    expect([retried.status, await retried.json()]).toMatchObject([
      200,
      { data: { turns: [{ engineId: "picky" }], engines: [], stillAside: [] } },
    ]);
    const unknown = await fetch(`${server.url}/api/sessions/none/engine/retry`, { method: "POST" });
    expect([unknown.status, await unknown.json()]).toMatchObject([
      404,
      { error: { code: "SESSION_NOT_FOUND" } },
    ]);

    for (const text of ["three", "four", "five"]) await say(text);
    await stop();
    await server.close();
    expect(await clew(home, ["engine", "retry", "nobody"])).toMatchObject({ code: 1 });
    expect(await clew(home, ["engine", "retry", "main"])).toMatchObject({
      code: 0,
      output: '"picky" will be offered 1 parked turn again.\nThe next message tries it.',
    });
    expect(taken()).toBe(false);
    heal();
    expect((await clew(home, ["chat", "six"])).code).toBe(0);
    expect((await clew(home, ["doctor"])).output).not.toContain("refused");
    expect(taken()).toBe(true);
  });
});
