// Lets restless clients talk to a gateway that is killed, and counts what is lost.
import { once } from "node:events";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createSessionStore } from "../../../gateway/src/sessions/store.ts";
import { newHome, type RunningGateway, startGateway } from "../gateway/gateway-process.ts";
import { createChance } from "./chance.ts";
import { type ModelCounts, startFaultyModel } from "./faulty-model.ts";
import { type Judgement, judge } from "./judge.ts";
import { beRestless, type ClientCounts } from "./restless-client.ts";

export interface SoakOptions {
  sessions: number;
  seconds: number;
  seed: number;
  /** Told every now and then. */
  onSample?: (sample: Sample) => void;
}

export interface Sample {
  /** Since it began. */
  seconds: number;
  /** How often the gateway was started anew by then. */
  restarts: number;
  rssMB: number;
  descriptors: number;
  diskMB: number;
}

export interface SoakResult extends Judgement {
  samples: Sample[];
  clients: ClientCounts;
  model: ModelCounts;
  /** Messages that still waited when all was over. */
  left: number;
}

const SAMPLE_MS = 5000;
/** For turns to end once nobody says anything more, ms. */
const SETTLE_MS = 120_000;

export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { sessions, seconds, seed, onSample = () => {} } = options;
  const chance = createChance(seed);
  const model = await startFaultyModel(chance.apart(-1));
  const home = await newHome(configFor(model.baseUrl));
  let gateway = await startGateway({ home });
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1000;
  const samples: Sample[] = [];
  let restarts = 0;
  const over = new AbortController();
  const clients = {
    ...{ messages: 0, left: 0, again: 0, cancelled: 0, takenBack: 0 },
    ...{ waited: 0, steered: 0, refused: 0, broken: 0 },
  };
  const sampling = setInterval(() => {
    void sampleOf(gateway, home).then((found) => {
      const sample = { seconds: Math.round(elapsed()), restarts, ...found };
      samples.push(sample);
      onSample(sample);
    });
  }, SAMPLE_MS);
  try {
    const talking = Array.from({ length: sessions }, (_, at) =>
      beRestless(`soak-${at}`, {
        ...{ url: () => gateway.url, chance: chance.apart(at), counts: clients },
        ...{ isOver: () => elapsed() > seconds, signal: over.signal },
      }),
    );
    await sleep(seconds * 500);
    gateway.process.kill("SIGKILL");
    await once(gateway.process, "exit");
    gateway = await startGateway({ home });
    restarts++;
    const stuck = setTimeout(() => over.abort(), seconds * 500 + SETTLE_MS);
    const sent = (await Promise.all(talking)).flat();
    clearTimeout(stuck);
    const left = await settled(gateway.url);
    clearInterval(sampling);
    await gateway.stop();
    const stored = await storedIn(home, sessions);
    return { ...judge(sent, stored), samples, clients, model: model.counts, left };
  } finally {
    clearInterval(sampling);
    over.abort();
    if (gateway.process.exitCode === null) gateway.process.kill("SIGKILL");
    model.close();
    await rm(home, { recursive: true, force: true });
  }
}

const configFor = (baseUrl: string) => ({
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

/** Resolves when nothing runs any more, with what still waits. */
async function settled(url: string): Promise<number> {
  const until = performance.now() + SETTLE_MS;
  for (;;) {
    const { turns } = (await (await fetch(`${url}/api/health`)).json()) as {
      turns: { running: number; waiting: number };
    };
    if (turns.running === 0 || performance.now() > until) return turns.waiting;
    await sleep(200);
  }
}

/** The names of people's messages, each as often as it stands in a session. */
async function storedIn(home: string, sessions: number): Promise<string[]> {
  const store = createSessionStore({ home });
  const stored: string[] = [];
  for (let at = 0; at < sessions; at++) {
    const session = await store.read(`soak-${at}`);
    for (const entry of session?.branch ?? [])
      if (entry.type === "message" && entry.message.role === "user")
        stored.push(entry.message.idempotencyKey ?? "");
  }
  return stored;
}

async function sampleOf(
  gateway: RunningGateway,
  home: string,
): Promise<Pick<Sample, "rssMB" | "descriptors" | "diskMB">> {
  const open = await readdir(`/proc/${gateway.process.pid}/fd`).catch(() => []);
  const rssMB = Math.round((await gateway.rss()) / 1e6);
  return { rssMB, descriptors: open.length, diskMB: (await bytesBelow(home)) / 1e6 };
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
