// Kills a gateway at random moments while memories are flushed.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { startChild } from "../../../testing/child.ts";
import { temporaryHome } from "../../../testing/home.ts";
import { isFlush, memoryModel, notesPlugins, storing } from "../../../testing/memory.ts";
import { startPluginGateway } from "../../../testing/plugins.ts";
import { markIn } from "./flush-marks.ts";

const PROGRAM = new URL("../../../testing/flush-process.ts", import.meta.url);

it("every compaction has its flush, whenever the process is killed", async () => {
  const home = await temporaryHome();
  const { config } = await memoryModel({
    contextWindow: 24_000,
    // Slow enough to be killed in.
    answers: (request) =>
      isFlush(request) ? { ...storing(request), pauseMs: 1 } : { text: "noted" },
  });
  const settings = { ...config, plugins: notesPlugins() };
  for (let life = 0; life < 8; life++) {
    const program = startChild(PROGRAM, [home, JSON.stringify(settings), "40"]);
    await program.nextLine();
    const turns = 4 + Math.floor(Math.random() * 12);
    for (let turn = 1; turn <= turns; turn++) await program.nextLine();
    await sleep(Math.random() * 60);
    program.process.kill("SIGKILL");
    await program.exit;
  }
  const last = startChild(PROGRAM, [home, JSON.stringify(settings), "12"]);
  expect(await last.exit).toBe(0);

  const { gateway } = await startPluginGateway(settings, home);
  const { branch } = (await gateway.session("main"))!;
  const compactions = branch.flatMap(({ type }, at) => (type === "compaction" ? [at] : []));
  expect(compactions.length).toBeGreaterThan(2);
  const stored = new Set(
    branch.flatMap((entry) => {
      const { state, of } = markIn(entry) ?? {};
      return state === "done" && of !== undefined ? [of] : [];
    }),
  );
  const madeUpFor = branch.flatMap((entry) => {
    const { state, of } = markIn(entry) ?? {};
    return state === "begun" && of !== undefined && stored.has(entry.id) ? [of] : [];
  });
  for (const [index, at] of compactions.entries()) {
    const cycle = branch.slice(compactions[index - 1] ?? 0, at);
    const begun = cycle.filter((entry) => markIn(entry)?.state === "begun");
    expect(begun.length).toBeGreaterThan(0);
    const wasStored = begun.some(({ id }) => stored.has(id) || madeUpFor.includes(id));
    expect([index, wasStored]).toEqual([index, true]);
    const firsts = begun
      .filter(({ id }) => stored.has(id))
      .filter((e) => markIn(e)?.of === undefined);
    expect(firsts.length).toBeLessThanOrEqual(1);
  }
  const folder = join(home, "agents/main/workspace/memory");
  const lines = existsSync(folder)
    ? readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
    : [];
  // A kill between the store and its mark repeats the flush.
  expect(lines.filter((line) => line !== "").length).toBeGreaterThanOrEqual(compactions.length);
});
