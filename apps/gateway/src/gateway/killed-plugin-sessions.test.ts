// Kills gateways whose plugins have sessions of their own, at random moments.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { readChildren } from "../subagents/child-files.ts";
import { startChild } from "../testing/child.ts";
import { type DiverCall, dive, diver, writeDiver } from "../testing/diver.ts";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel } from "../testing/obedient-model.ts";
import { collectLog, startPluginGateway } from "../testing/plugins.ts";

const PROGRAM = new URL("../testing/subagent-turns.ts", import.meta.url);
const KILLS = 4;

async function killable() {
  const home = await temporaryHome();
  const { config } = await obedientModel({ maxChildrenPerAgent: 40, maxConcurrent: 60 });
  writeDiver(home);
  const start = () => startPluginGateway(config, home);
  const startProcess = (messages: readonly string[]) =>
    startChild(PROGRAM, [home, JSON.stringify(config), JSON.stringify(messages)]);
  return { home, start, startProcess };
}

/** However busy the machine is. */
const soon = <Result>(check: () => Result, timeout = 120_000) => vi.waitFor(check, { timeout });

const recordsIn = (home: string) => readChildren({ home, log: collectLog() });

const begin = (name: string, message: string): DiverCall => [
  "run",
  { sessionKey: `agent:main:subagent:${name}`, message, idempotencyKey: name },
];

describe("plugins' sessions of a gateway that is killed", () => {
  it("are over, which their plugin is told, and nobody else", async () => {
    const { home, start, startProcess } = await killable();
    const program = startProcess([dive([begin("one", "HANG")])]);
    while ((await program.nextLine()) !== "0");
    program.process.kill("SIGKILL");
    await program.exit;

    const { say, gateway } = await start();
    await soon(async () =>
      expect(await diver().waitForRun({ runId: "one" })).toEqual({
        status: "error",
        error: "The run was lost, because the program that ran it ended.",
      }),
    );
    await say("hello");
    expect(await gateway.messages("main", 2)).toMatchObject([
      { role: "user", content: "hello" },
      { role: "assistant" },
    ]);
    expect(JSON.stringify(await gateway.messages("main", 100))).not.toContain("was lost");
    const sessionKey = "agent:main:subagent:one";
    // A second try of the same run starts nothing.
    expect(await diver().run({ sessionKey, message: "HANG", idempotencyKey: "one" })).toEqual({
      runId: "one",
      sessionKey,
    });
    expect((await recordsIn(home)).map(({ state }) => state)).toEqual(["ended"]);
    await diver().deleteSession({ sessionKey });
    expect(await recordsIn(home)).toEqual([]);
  });

  it(`${KILLS} times: no run is left, whatever it was doing`, async () => {
    const { home, start, startProcess } = await killable();
    for (let kill = 0; kill < KILLS; kill++) {
      const turn = (n: number) =>
        dive([
          begin(`a${kill}-${n}`, "HANG"),
          begin(`b${kill}-${n}`, "say"),
          begin(`c${kill}-${n}`, dive([begin(`d${kill}-${n}`, "HANG")])),
          ["waitForRun", { runId: `b${kill}-${n}` }],
          ["deleteSession", { sessionKey: `agent:main:subagent:b${kill}-${n}` }],
        ]);
      const program = startProcess([1, 2, 3].map(turn));
      for (let line = Math.floor(Math.random() * 4); line >= 0; line--) await program.nextLine();
      await sleep(Math.random() * 150);
      program.process.kill("SIGKILL");
      await program.exit;
    }
    expect((await recordsIn(home)).length).toBeGreaterThan(KILLS);
    await start();
    await soon(async () => {
      const states = (await recordsIn(home)).map(({ state }) => state);
      expect(new Set(states)).toEqual(new Set(["ended"]));
      // What is locked when it is looked through is looked at again a minute later.
    }, 90_000);
    const files = () => readdirSync(join(home, "agents/main/subagents"));
    await soon(() => expect(files().filter((name) => name.endsWith(".lock"))).toEqual([]));
    for (const { key } of await recordsIn(home)) await diver().deleteSession({ sessionKey: key });
    expect(await recordsIn(home)).toEqual([]);
  }, 240_000);
});
