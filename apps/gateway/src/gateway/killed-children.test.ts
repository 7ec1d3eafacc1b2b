// Kills gateways whose sessions have children, at random moments.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it, vi } from "vitest";
import { readChildren } from "../subagents/child-files.ts";
import { startChild } from "../testing/child.ts";
import { temporaryHome } from "../testing/home.ts";
import { writeNotary } from "../testing/notary.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { collectLog, startPluginGateway } from "../testing/plugins.ts";

const PROGRAM = new URL("../testing/subagent-turns.ts", import.meta.url);
const SPAWNS = 100;
const LIMITS = { maxChildrenPerAgent: 40, maxConcurrent: 60, maxSpawnDepth: 3 };

async function killable() {
  const home = await temporaryHome();
  const { config } = await obedientModel(LIMITS);
  const { plugins, notes } = writeNotary(home);
  const settings = { ...config, plugins };
  const start = () => startPluginGateway(settings, home);
  const startProcess = (messages: readonly string[]) =>
    startChild(PROGRAM, [home, JSON.stringify(settings), JSON.stringify(messages)]);
  return { home, notes, start, startProcess };
}

/** However busy the machine is. */
const soon = <Result>(check: () => Result) => vi.waitFor(check, { timeout: 120_000 });

const recordsIn = (home: string) => readChildren({ home, log: collectLog() });

/** How children are told to live. */
const LIVES: readonly ((n: number) => object)[] = [
  (n) => ({ task: `say ${n}` }),
  (n) => ({ task: `say ${n}`, cleanup: "delete" }),
  () => ({ task: "HANG" }),
  () => ({ task: "HANG", timeoutSeconds: 1 }),
  () => ({ task: "FAIL" }),
  (n) => ({ task: `say ${n}`, contextMode: "fork" }),
  (n) => ({ task: run("sessions_spawn", { task: `below ${n}`, wait: true }) }),
  (n) => ({ task: run("sessions_spawn", { task: `below ${n}` }), cleanup: "delete" }),
];

const pick = <Item>(items: readonly Item[]) => items[Math.floor(Math.random() * items.length)]!;

describe("children of a gateway that is killed", () => {
  it("are ended once, and their parent hears of it once", async () => {
    const { home, notes, start, startProcess } = await killable();
    const program = startProcess([run("sessions_spawn", { task: "HANG", label: "lost one" })]);
    while ((await program.nextLine()) !== "0");
    program.process.kill("SIGKILL");
    await program.exit;
    expect(notes().map(({ ended }) => ended)).toEqual([undefined]);

    for (const isFirst of [true, false]) {
      const { say, stop, gateway } = await start();
      await soon(async () =>
        expect((await recordsIn(home)).map(({ state }) => state)).toEqual(["ended"]),
      );
      await say("hello");
      const { branch } = (await gateway.session("main"))!;
      const texts = branch.flatMap((entry) =>
        entry.type === "message" ? [textOf(entry.message)] : [],
      );
      const told = texts.filter((text) => text.includes('"lost one"') && text.includes("It was"));
      expect([isFirst, told]).toEqual([
        isFirst,
        [expect.stringContaining("It was lost, because the program that ran it ended.")],
      ]);
      await stop();
    }
    expect(notes().slice(1)).toMatchObject([{ ended: notes()[0]!.prepared, reason: "swept" }]);
  });

  it(`a hundred of them: each preparation has one end or rollback, and nothing is left over`, async () => {
    const { home, notes, start, startProcess } = await killable();
    const prepared = () => notes().flatMap((note) => note.prepared ?? []);
    let kills = 0;
    for (let spawned = 0; spawned < SPAWNS; kills++) {
      const messages = Array.from({ length: 3 }, (_, turn) =>
        Array.from({ length: 6 }, (_, n) =>
          run("sessions_spawn", pick(LIVES)(spawned + turn * 6 + n)),
        ).join("\n"),
      );
      const program = startProcess(messages);
      for (let line = Math.floor(Math.random() * 4); line >= 0; line--) await program.nextLine();
      await sleep(Math.random() * 150);
      program.process.kill("SIGKILL");
      await program.exit;
      spawned = prepared().length;
    }
    const { stop, gateway } = await start();
    await soon(async () =>
      expect(new Set((await recordsIn(home)).map(({ state }) => state))).toEqual(
        new Set(["ended"]),
      ),
    );
    const kept = (await recordsIn(home)).filter(
      ({ cleanup, end }) => cleanup === "keep" && end?.outcome === "completed",
    );
    const keys = (await gateway.sessions()).map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(kept.map(({ key }) => key)));
    await stop();

    const endsOf = (key: string) =>
      notes().filter(({ ended, rolledBack }) => (ended ?? rolledBack) === key);
    expect(prepared().length).toBeGreaterThanOrEqual(SPAWNS);
    expect(new Set(prepared()).size).toBe(prepared().length);
    const twice = prepared().filter((key) => endsOf(key).length !== 1);
    for (const key of twice) {
      // Killed between telling the engine and writing down that it was told.
      const pids = endsOf(key).map(({ pid }) => pid);
      expect([pids.length, new Set(pids).size]).toEqual([2, 2]);
    }
    expect(twice.length).toBeLessThanOrEqual(kills);
    const left = readdirSync(join(home, "agents/main/subagents"));
    expect(left.filter((name) => name.endsWith(".lock"))).toEqual([]);
  }, 180_000);
});
