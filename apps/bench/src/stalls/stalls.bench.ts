// How long one big session keeps all others waiting.
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { newHome, type RunningGateway, say, startGateway } from "../gateway/gateway-process.ts";
import { type BenchCase, type CaseResult, defineBench } from "../runner/bench.ts";
import { writeBigSession } from "./big-session.ts";
import { type Chatters, startChatters } from "./chatters.ts";
import type { LoopReading } from "./loop-probe.ts";

const MB = 2 ** 20;
const SESSIONS = 20;
const SEED = Number(process.env.CLEW_SEED ?? Math.floor(Math.random() * 2 ** 32));
const PROBE = fileURLToPath(new URL("./loop-probe.ts", import.meta.url));
const BIG = "big";
const LONGEST_STALL_MS = 50;

/** One gateway with one big session, and others that chat. */
interface Scenario {
  gateway: RunningGateway;
  chatters: Chatters;
}

/** What a person or a page does. */
interface Phase {
  name: string;
  act(url: string): Promise<unknown>;
  /** Most ms it may take for the large session, on an idle machine. Absent: it is not bounded. */
  goalMs?: { compacted: number; neverCompacted: number };
  /** True: of a gateway that was started anew with the same home. Absent: of the one before. */
  afterRestart?: true;
}

const OPENING = { compacted: 100, neverCompacted: 3000 };
const open = (url: string) => say(url, "/engine retry", BIG);

const PHASES: Phase[] = [
  { name: "nothing", act: () => new Promise((resolve) => setTimeout(resolve, 3000)) },
  { name: "session list", act: (url) => get(`${url}/api/sessions`) },
  { name: "newest page", act: (url) => get(`${url}/api/sessions/${BIG}?limit=50`) },
  { name: "status", act: (url) => say(url, "/status", BIG) },
  { name: "engine", act: (url) => get(`${url}/api/engine?session=${BIG}`) },
  // Nobody made a checkpoint yet, so the file is read whole, compacted or not.
  { name: "open first", act: open, goalMs: { ...OPENING, compacted: OPENING.neverCompacted } },
  { name: "status when open", act: (url) => say(url, "/status", BIG) },
  { name: "context", act: (url) => say(url, "/context", BIG) },
  { name: "dry run", act: (url) => say(url, "/compact --dry-run", BIG) },
  { name: "open again", act: open, goalMs: OPENING, afterRestart: true },
  { name: "compact", act: (url) => say(url, "/compact", BIG) },
  { name: "turn", act: (url) => say(url, "Which file did you read last?", BIG) },
  { name: "next turn", act: (url) => say(url, "And before that?", BIG) },
  { name: "compact again", act: (url) => say(url, "/compact", BIG) },
  {
    name: "open compacted",
    act: open,
    goalMs: { compacted: OPENING.compacted, neverCompacted: OPENING.compacted },
    afterRestart: true,
  },
];

/** The phases of one gateway, which starts with the first of them and ends with the last. */
function casesOf(megabytes: number, keptBytes: number | null): BenchCase[] {
  let scenario: Promise<Scenario> | undefined;
  let left = 0;
  const started = () => {
    scenario ??= startScenario(megabytes, keptBytes);
    return scenario;
  };
  const prefix = `${megabytes} MB ${keptBytes === null ? "never compacted" : "compacted"}`;
  return PHASES.map(({ name, act, goalMs, afterRestart }) => ({
    name: `${prefix}: ${name}`,
    async prepare() {
      left++;
      const current = await started();
      let facts: Record<string, number> = {};
      return {
        async run() {
          if (afterRestart) await restart(current);
          const { gateway, chatters } = current;
          chatters.resume();
          await readLoop(gateway);
          const start = performance.now();
          await act(gateway.url);
          const tookMs = performance.now() - start;
          const { longestMs, longestCpuMs, p99Ms } = await readLoop(gateway);
          chatters.pause();
          const goal = goalMs?.[keptBytes === null ? "neverCompacted" : "compacted"];
          facts = {
            longestMs,
            longestCpuMs,
            goalStallMs: LONGEST_STALL_MS,
            tookMs: Math.round(tookMs),
            ...(goal !== undefined && { goalTookMs: goal }),
            p99Ms,
            slowestChatMs: Math.round(chatters.slowestMs()),
            rssMB: Math.round((await gateway.rss()) / MB),
            peakMB: Math.round((await gateway.peakRss()) / MB),
          };
        },
        facts: () => facts,
        async dispose() {
          if (--left > 0) return;
          await stopScenario(current);
          await rm(current.gateway.home, { recursive: true, force: true });
        },
      };
    },
  }));
}

async function startScenario(megabytes: number, keptBytes: number | null): Promise<Scenario> {
  const home = await newHome();
  const bytes = megabytes * MB;
  const messages = await writeBigSession({ home, name: BIG, bytes, seed: SEED, keptBytes });
  process.stderr.write(`${megabytes} MB, ${messages} messages, CLEW_SEED=${SEED}\n`);
  return startIn(home);
}

const stopScenario = ({ chatters, gateway }: Scenario) => chatters.stop().finally(gateway.stop);

/** Another process with the same sessions. */
async function restart(current: Scenario): Promise<void> {
  const { home } = current.gateway;
  await stopScenario(current);
  Object.assign(current, await startIn(home));
}

async function startIn(home: string): Promise<Scenario> {
  const gateway = await startGateway({ home, probe: PROBE });
  const chatters = startChatters(gateway.url, SESSIONS);
  // A gateway runs for weeks: what its first turns spend on compiling is not what people wait for.
  chatters.resume();
  await new Promise((resolve) => setTimeout(resolve, 4000));
  chatters.pause();
  chatters.slowestMs();
  return { gateway, chatters };
}

/** What the loop did since it was asked last. */
async function readLoop({ process: child }: RunningGateway): Promise<LoopReading> {
  const answered = once(child, "message") as Promise<[LoopReading]>;
  child.send("loop");
  return (await answered)[0];
}

async function get(url: string): Promise<number> {
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 300)}`);
  return text.length;
}

/** Kept by a compaction of the host: about 20,000 tokens. */
const KEPT_BYTES = 80_000;

export default defineBench({
  name: "stalls",
  description: `${SESSIONS} sessions chat beside a big one; goal: no stall above ${LONGEST_STALL_MS} ms`,
  rounds: 1,
  warmups: 0,
  cases: [20, 200].flatMap((megabytes) => [
    ...casesOf(megabytes, KEPT_BYTES),
    ...casesOf(megabytes, null),
  ]),
  check: (results: ReadonlyMap<string, CaseResult>) =>
    [...results.values()].flatMap(({ name, facts }) =>
      (facts?.longestCpuMs ?? 0) <= LONGEST_STALL_MS
        ? []
        : [`${name}: the loop stood still for ${facts!.longestCpuMs!.toFixed(0)} ms.`],
    ),
});
