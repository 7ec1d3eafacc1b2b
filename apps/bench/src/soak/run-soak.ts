// Lets restless clients talk to a gateway that is killed, and counts what is lost.
import { once } from "node:events";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createSessionStore } from "../../../gateway/src/sessions/store.ts";
import { createWaitingFiles } from "../../../gateway/src/waiting/waiting-files.ts";
import { newHome, type RunningGateway, startGateway } from "../gateway/gateway-process.ts";
import { createChance } from "./chance.ts";
import { type ModelCounts, startFaultyModel } from "./faulty-model.ts";
import { type Judgement, judge } from "./judge.ts";
import { leaveSession } from "./leave-session.ts";
import type { MemoryReading } from "./memory-probe.ts";
import { createRest } from "./rest.ts";
import { beRestless, type ClientCounts, type SentMessage } from "./restless-client.ts";

export interface SoakOptions {
  sessions: number;
  seconds: number;
  seed: number;
  /**
   * True: nobody kills the gateway, and what is left shows whether anything grows: clients talk at
   * leisure and leave each session for a new one after a while. Absent: it is killed in the middle.
   */
  steady?: boolean;
  /** How often the gateway is killed where it is not steady. Default 1. */
  kills?: number;
  /** What a client says in one session where it is steady. Default 40. */
  messagesOfASession?: number;
  /** Between two messages of a client at most. Default 1000, 3000 where it is steady. */
  pauseMs?: number;
  /** Between two samples. Default 5000. */
  sampleMs?: number;
  /** How long all rest before a sample where it is steady. Default 8000. */
  restMs?: number;
  /** Told every now and then. */
  onSample?: (sample: Sample) => void;
}

export interface Sample {
  /** Since it began. */
  seconds: number;
  /** How often the gateway was started anew by then. */
  restarts: number;
  rssMB: number;
  /** What of it is in use. NaN: nobody was asked. */
  liveMB: number;
  descriptors: number;
  /** All but what calls cost and what was logged, of which a line for each is kept. */
  diskMB: number;
  costsMB: number;
}

export interface SoakResult extends Judgement {
  samples: Sample[];
  clients: ClientCounts;
  model: ModelCounts;
  /** Messages that still waited when all was over. */
  left: number;
  /** Where the sessions are, to be looked at. Absent: nothing is wrong, and they are gone. */
  home?: string;
}

const SAMPLE_MS = 5000;
/** Longer than anybody keeps a connection that is not used. */
const REST_MS = 8000;
const PAUSE_MS = { restless: 1000, steady: 3000 };
const TOKEN = "a-token-for-the-soak";
const HEADERS = { authorization: `Bearer ${TOKEN}` };
const PROBE = new URL("memory-probe.ts", import.meta.url).href;
/** For turns to end once nobody says anything more, ms. */
const SETTLE_MS = 120_000;

export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { sessions, seconds, seed, steady = false } = options;
  const { sampleMs = SAMPLE_MS, restMs = REST_MS } = options;
  const { pauseMs = steady ? PAUSE_MS.steady : PAUSE_MS.restless } = options;
  const chance = createChance(seed);
  const model = await startFaultyModel(chance.apart(-1));
  const home = await newHome(configFor(model.baseUrl));
  const start = () => startGateway({ home, probe: PROBE });
  let gateway = await start();
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1000;
  const samples: Sample[] = [];
  let restarts = 0;
  const over = new AbortController();
  let isWrong = false;
  const clients = {
    ...{ messages: 0, left: 0, again: 0, cancelled: 0, takenBack: 0 },
    ...{ waited: 0, steered: 0, refused: 0, broken: 0 },
  };
  const rest = createRest(sessions);
  const sample = async () => {
    const seconds = Math.round(elapsed());
    const found = await sampleOf(gateway, home);
    samples.push({ seconds, restarts, ...found });
    options.onSample?.(samples.at(-1)!);
  };
  /** What is under way says nothing of what grows. */
  const sampleAtRest = () =>
    rest.during(async () => {
      await settled(gateway.url);
      await sleep(restMs);
      await sample();
    });
  const sampling = sampleEvery(sampleMs, steady ? sampleAtRest : sample);
  /** Of sessions that are gone. */
  const gone: Judgement[] = [];
  const to = { url: () => gateway.url, headers: HEADERS, signal: over.signal };
  const renewal = {
    messages: options.messagesOfASession ?? 40,
    leave: async (session: string, sent: readonly SentMessage[]) =>
      void gone.push(judge(sent, await leaveSession(session, sent, to))),
  };
  try {
    const talking = Array.from({ length: sessions }, (_, at) =>
      beRestless(`soak-${at}`, {
        ...{ ...to, chance: chance.apart(at), counts: clients },
        ...{ pauseMs, isOver: () => elapsed() > seconds, rest: rest.here },
        ...(steady && { renewal }),
      }).finally(rest.leave),
    );
    const kills = steady ? 0 : (options.kills ?? 1);
    for (let kill = 1; kill <= kills; kill++) {
      await sleep(Math.max(0, ((seconds * kill) / (kills + 1) - elapsed()) * 1000));
      gateway.process.kill("SIGKILL");
      await once(gateway.process, "exit");
      gateway = await start();
      restarts++;
    }
    const stuck = setTimeout(() => over.abort(), (seconds - elapsed()) * 1000 + SETTLE_MS);
    const sent = (await Promise.all(talking)).flat();
    clearTimeout(stuck);
    const left = await settled(gateway.url);
    await sampling.stop();
    await gateway.stop();
    const stored = await storedIn(home, new Set(sent.map(({ session }) => session)));
    const judged = together([...gone, judge(sent, [...stored, ...(await keptIn(home, stored))])]);
    isWrong = judged.trails.length > 0 || left > 0;
    const told = { ...judged, samples, clients, model: model.counts, left };
    return isWrong ? { ...told, home } : told;
  } finally {
    void sampling.stop();
    over.abort();
    if (gateway.process.exitCode === null) gateway.process.kill("SIGKILL");
    model.close();
    if (!isWrong) await rm(home, { recursive: true, force: true });
  }
}

interface Sampling {
  /** Resolves when no sample is taken any more. */
  stop(): Promise<void>;
}

/** One after the other. */
function sampleEvery(everyMs: number, sample: () => Promise<void>): Sampling {
  const over = new AbortController();
  const work = async () => {
    while (!over.signal.aborted) {
      await sleep(everyMs, undefined, { signal: over.signal }).catch(() => {});
      // A gateway that was killed meanwhile has nothing to measure.
      if (!over.signal.aborted) await sample().catch(() => {});
    }
  };
  const working = work();
  return {
    stop() {
      over.abort();
      return working;
    },
  };
}

const together = (all: readonly Judgement[]): Judgement => ({
  messages: all.reduce((sum, { messages }) => sum + messages, 0),
  lost: all.flatMap(({ lost }) => lost),
  doubled: all.flatMap(({ doubled }) => doubled),
  saidAnyway: all.flatMap(({ saidAnyway }) => saidAnyway),
  trails: all.flatMap(({ trails }) => trails),
});

const configFor = (baseUrl: string) => ({
  gateway: { auth: { token: TOKEN } },
  agents: { defaults: { model: { primary: "soak/soak" } } },
  models: {
    providers: {
      soak: {
        ...{ api: "openai-completions", baseUrl, apiKey: "soak" },
        models: [{ id: "soak", contextWindow: 200_000, maxTokens: 4096 }],
      },
    },
  },
});

/** The names of those that still wait: the next gateway would say them. */
async function keptIn(home: string, said: readonly string[]): Promise<string[]> {
  const log = { info() {}, warn() {}, error() {} };
  const found = await createWaitingFiles({ home, log }).all();
  const names = found.flatMap(({ messages }) => messages.map((one) => one.idempotencyKey));
  // One that was said when the gateway was killed may stand in both places, and is said once.
  const known = new Set(said);
  return names.filter((name) => !known.has(name));
}

/** Resolves when nothing runs any more, or nothing comes of it, with what still waits. */
async function settled(url: string): Promise<number> {
  let until = performance.now() + SETTLE_MS;
  let least = Infinity;
  for (;;) {
    const health = await fetch(`${url}/api/health`, { headers: HEADERS });
    const { turns } = (await health.json()) as {
      turns: { running: number; waiting: number };
    };
    if (turns.waiting < least) until = performance.now() + SETTLE_MS;
    least = Math.min(least, turns.waiting);
    if (turns.running === 0 || performance.now() > until) return turns.waiting;
    await sleep(200);
  }
}

/** The names of people's messages, each as often as it stands in a session. */
async function storedIn(home: string, sessions: ReadonlySet<string>): Promise<string[]> {
  const store = createSessionStore({ home });
  const stored: string[] = [];
  for (const name of sessions) {
    const session = await store.read(name).catch(() => null);
    for (const entry of session?.branch ?? [])
      if (entry.type === "message" && entry.message.role === "user")
        stored.push(entry.message.idempotencyKey ?? "");
  }
  return stored;
}

async function sampleOf(
  gateway: RunningGateway,
  home: string,
): Promise<Omit<Sample, "seconds" | "restarts">> {
  const open = await readdir(`/proc/${gateway.process.pid}/fd`).catch(() => []);
  const rssMB = Math.round((await gateway.rss()) / 1e6);
  const costs = await bytesBelow(join(home, "costs"));
  const kept = costs + (await bytesBelow(join(home, "logs")));
  return {
    ...{ rssMB, liveMB: await liveMBOf(gateway), descriptors: open.length },
    ...{ diskMB: ((await bytesBelow(home)) - kept) / 1e6, costsMB: costs / 1e6 },
  };
}

/** NaN: it was killed meanwhile. */
async function liveMBOf({ process: child }: RunningGateway): Promise<number> {
  if (!child.connected) return Number.NaN;
  const over = new AbortController();
  const until = { signal: over.signal };
  const answer = once(child, "message", until) as Promise<[MemoryReading]>;
  const gone = once(child, "disconnect", until).then(() => [{ liveMB: Number.NaN }]);
  child.send("memory", () => {});
  try {
    const [reading] = await Promise.race([answer, gone]);
    return reading!.liveMB;
  } finally {
    over.abort();
  }
}

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(
      async (file) => (await stat(join(file.parentPath, file.name)).catch(() => null))?.size ?? 0,
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
