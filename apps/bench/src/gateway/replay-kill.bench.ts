// Whether every acknowledged entry survives kill -9 at random moments of a replay.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type CaseResult, defineBench } from "../runner/bench.ts";
import { gatewayCommand, newHome, writeSession } from "./gateway-process.ts";

const KILLS = 20;
const MESSAGES = 1_000;
const CASE = `${KILLS} kills`;

/**
 * Replays into a fresh home, kills at a random moment, and counts acknowledged entries
 * that are not in the file.
 */
async function killOnce(recording: string): Promise<{ acknowledged: number; missing: number }> {
  const home = await newHome();
  const child = spawn(
    process.execPath,
    [...gatewayCommand(), "replay", recording, "--into", home, "--acks"],
    {
      env: { ...process.env, CLEW_HOME: home },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  let printed = "";
  const wanted = 20 + Math.floor(Math.random() * (MESSAGES / 2));
  child.stdout.on("data", (chunk: Buffer) => {
    printed += String(chunk);
    if (printed.split("\n").length > wanted) child.kill("SIGKILL");
  });
  await once(child, "exit");
  // The last line may be torn; what was printed whole was acknowledged.
  const acknowledged = printed
    .split("\n")
    .slice(0, -1)
    .filter((line) => /^[0-9a-f]{8}$/.test(line));
  const folder = join(home, "agents/main/sessions");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".jsonl"));
  const stored = (
    await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")))
  ).join("\n");
  const missing = acknowledged.filter((id) => !stored.includes(`"id":"${id}"`)).length;
  await rm(home, { recursive: true });
  return { acknowledged: acknowledged.length, missing };
}

export default defineBench({
  name: "replay-kill",
  description: `kill -9 at ${KILLS} random moments of a replay: every acknowledged message must be there`,
  rounds: 1,
  warmups: 0,
  cases: [
    {
      name: CASE,
      async prepare() {
        const home = await newHome();
        await writeSession(home, MESSAGES);
        const recording = join(home, "agents/main/sessions/bench-session.jsonl");
        const total = { acknowledged: 0, missing: 0 };
        return {
          async run() {
            for (let kill = 0; kill < KILLS; kill++) {
              const { acknowledged, missing } = await killOnce(recording);
              total.acknowledged += acknowledged;
              total.missing += missing;
            }
            return total;
          },
          facts: () => total,
          dispose: () => rm(home, { recursive: true }),
        };
      },
    },
  ],
  check: (results: ReadonlyMap<string, CaseResult>) =>
    results.get(CASE)?.facts?.missing === 0
      ? []
      : [`${results.get(CASE)?.facts?.missing} acknowledged entries were gone after a kill.`],
});
