// Kills processes that run jobs, at random moments.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { startChild } from "../testing/child.ts";
import { temporaryHome } from "../testing/home.ts";
import { createJobFiles } from "./job-files.ts";

const PROGRAM = new URL("../testing/cron-process.ts", import.meta.url);

it("a job runs for no moment twice, and each run is told, whenever its process is killed", async () => {
  const home = await temporaryHome();
  const startedAt = Date.now();
  const files = createJobFiles(home);
  await files.write({
    ...{ v: 1, id: "j", session: "agent:main:j", message: "look", kind: "cron", enabled: true },
    ...{ schedule: "every 1m", timeZone: "UTC", maxLateMinutes: 1e6, askedAt: 0 },
    ...{ createdAt: startedAt, enabledAt: startedAt },
  });
  for (let life = 0; life < 12; life++) {
    const program = startChild(PROGRAM, [home, String(startedAt)]);
    await program.nextLine();
    await sleep(Math.random() * 120);
    program.process.kill("SIGKILL");
    await program.exit;
  }
  const last = startChild(PROGRAM, [home, String(startedAt)]);
  await last.nextLine();
  await sleep(100);
  last.process.stdin!.end();
  await last.exit;
  const ran = readFileSync(join(home, "ran"), "utf8").trim().split("\n").map(Number);
  expect(ran.length).toBeGreaterThan(2);
  expect(new Set(ran).size).toBe(ran.length);
  const told = (await files.runs("j", 10_000)).map(({ due }) => due);
  expect(new Set(told).size).toBe(told.length);
  for (const due of ran) expect(told).toContain(due);
  expect((await files.state("j")).run).toBeNull();
});
