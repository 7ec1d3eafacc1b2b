// What 10,000 sessions cost the doctor, and a page of their list.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BenchCase, defineBench, type PreparedCase } from "../runner/bench.ts";
import { gatewayCommand, newHome, say, startGateway } from "./gateway-process.ts";

const COUNTS = [100, 10_000];
const PAGE = 50;
/** Writes what it used of all processors, in microseconds, as its last line on stderr. */
const TELL_CPU = `data:text/javascript,${encodeURIComponent(
  'process.on("exit", () => { const { user, system } = process.cpuUsage(); process.stderr.write("\\n" + (user + system)); });',
)}`;
const doctorName = (sessions: number) => `doctor, ${sessions} sessions`;
const listName = (sessions: number) => `a page of ${PAGE} of ${sessions} sessions`;

/** A session of two turns, and as many more of the same bytes under other ids. */
async function homeOf(sessions: number): Promise<string> {
  const home = await newHome();
  const gateway = await startGateway({ home });
  await say(gateway.url, "My locker number is 4711.", "s-0");
  await say(gateway.url, "Which number has my locker?", "s-0");
  await gateway.stop();
  const agent = join(home, "agents/main");
  const index = JSON.parse(await readFile(join(agent, "sessions/sessions.json"), "utf8"));
  const { sessionId } = index["agent:main:s-0"];
  const session = await readFile(join(agent, `sessions/${sessionId}.jsonl`), "utf8");
  for (let count = 1; count < sessions; count++) {
    const id = randomUUID();
    index[`agent:main:s-${count}`] = { sessionId: id };
    const text = session
      .replaceAll(sessionId, id)
      .replace("agent:main:s-0", `agent:main:s-${count}`);
    await writeFile(join(agent, `sessions/${id}.jsonl`), text, { mode: 0o600 });
    await cp(join(agent, `reports/${sessionId}.jsonl`), join(agent, `reports/${id}.jsonl`));
  }
  await writeFile(join(agent, "sessions/sessions.json"), JSON.stringify(index, null, 2));
  return home;
}

async function prepareDoctor(sessions: number): Promise<PreparedCase> {
  const home = await homeOf(sessions);
  let cpuMs = 0;
  return {
    async run() {
      const args = [`--import=${TELL_CPU}`, ...gatewayCommand(), "doctor", "--json"];
      const env = { ...process.env, CLEW_HOME: home };
      const options = { env, maxBuffer: 2 ** 28 };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
      cpuMs = Number(stderr.split("\n").at(-1)) / 1_000;
      return stdout.length;
    },
    facts: () => ({ cpuMs: Math.round(cpuMs) }),
    dispose: () => rm(home, { recursive: true, force: true }),
  };
}

async function prepareList(sessions: number): Promise<PreparedCase> {
  const home = await homeOf(sessions);
  const gateway = await startGateway({ home });
  return {
    run: async () =>
      (await (await fetch(`${gateway.url}/api/sessions?limit=${PAGE}`)).text()).length,
    async dispose() {
      await gateway.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

export default defineBench({
  name: "many-sessions",
  description:
    "10,000 sessions; goals: doctor 2 s of a processor, a page of the list ×3 of one of 100",
  rounds: 5,
  warmups: 2,
  cases: [
    ...COUNTS.map(
      (sessions, at): BenchCase => ({
        name: doctorName(sessions),
        ...(at > 0 && { compareTo: doctorName(COUNTS[0]!) }),
        prepare: () => prepareDoctor(sessions),
      }),
    ),
    ...COUNTS.map(
      (sessions, at): BenchCase => ({
        name: listName(sessions),
        ...(at > 0 && { compareTo: listName(COUNTS[0]!) }),
        prepare: () => prepareList(sessions),
      }),
    ),
  ],
  check(results) {
    const ratio = results.get(listName(COUNTS[1]!))?.ratio ?? Number.NaN;
    return ratio <= 3
      ? []
      : [`A page of ${COUNTS[1]} sessions takes ×${ratio.toFixed(1)} of one of ${COUNTS[0]}.`];
  },
});
