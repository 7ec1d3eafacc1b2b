// Kills gateways whose plugins have sessions of their own.
import { describe, expect, it, vi } from "vitest";
import { readChildren } from "../subagents/child-files.ts";
import { startChild } from "../testing/child.ts";
import { type DiverCall, dive, diver, writeDiver } from "../testing/diver.ts";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel } from "../testing/obedient-model.ts";
import { collectLog, startPluginGateway } from "../testing/plugins.ts";

const PROGRAM = new URL("../testing/subagent-turns.ts", import.meta.url);

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
const soon = <Result>(check: () => Result) => vi.waitFor(check, { timeout: 20_000 });

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
});
