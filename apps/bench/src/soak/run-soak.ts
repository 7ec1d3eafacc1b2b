// Lets restless clients talk to a gateway that is killed, and counts what is lost.
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { newHome, startGateway } from "../gateway/gateway-process.ts";
import { createChance } from "./chance.ts";
import { type DoorCounts, type Talk, talkAtDoor } from "./door-client.ts";
import { doorConfig } from "./door-config.ts";
import { type ModelCounts, startFaultyModel } from "./faulty-model.ts";
import { type Judgement, judge } from "./judge.ts";
import { judgeStrays, judgeTalk } from "./judge-talk.ts";
import { deleteSession, leaveSession } from "./leave-session.ts";
import { keptIn, sessionsIn, storedIn, storedNames } from "./read-home.ts";
import { createRest } from "./rest.ts";
import { beRestless, type ClientCounts, type SentMessage } from "./restless-client.ts";
import { type Sample, sampleEvery, sampleOf } from "./sample.ts";
import { whoTalks } from "./who-talks.ts";

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

export interface SoakResult extends Judgement {
  samples: Sample[];
  clients: ClientCounts;
  door: DoorCounts;
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
  const auth = { token: TOKEN };
  const home = await newHome({ gateway: { auth }, ...doorConfig(model.url) });
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
  const door = {
    ...{ messages: 0, replies: 0, calls: 0, again: 0, left: 0 },
    ...{ keptPart: 0, saidElse: 0, refused: 0, broken: 0 },
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
  const messages = options.messagesOfASession ?? 40;
  const renewal = {
    messages,
    leave: async (session: string, sent: readonly SentMessage[]) =>
      void gone.push(judge(sent, await leaveSession(session, sent, to))),
  };
  const doorRenewal = {
    messages,
    async leave(talk: Talk) {
      gone.push(judgeTalk(talk, await storedNames(home, talk)));
      for (const session of talk.sessions) await deleteSession(session, to);
    },
  };
  const sent: SentMessage[] = [];
  const talks: Talk[] = [];
  const talk = async (at: number) => {
    const name = `soak-${at}`;
    const talker = whoTalks(at);
    const parts = {
      ...{ ...to, chance: chance.apart(at), pauseMs },
      ...{ isOver: () => elapsed() > seconds, rest: rest.here },
    };
    if (talker === undefined) {
      const own = { ...parts, counts: clients, ...(steady && { renewal }) };
      sent.push(...(await beRestless(name, own)));
    } else {
      const own = { ...parts, counts: door, ...(steady && { renewal: doorRenewal }) };
      talks.push(await talkAtDoor(name, talker, own));
    }
  };
  try {
    const talking = Array.from({ length: sessions }, (_, at) => talk(at).finally(rest.leave));
    const kills = steady ? 0 : (options.kills ?? 1);
    for (let kill = 1; kill <= kills; kill++) {
      await sleep(Math.max(0, ((seconds * kill) / (kills + 1) - elapsed()) * 1000));
      gateway.process.kill("SIGKILL");
      await once(gateway.process, "exit");
      gateway = await start();
      restarts++;
    }
    const stuck = setTimeout(() => over.abort(), (seconds - elapsed()) * 1000 + SETTLE_MS);
    await Promise.all(talking);
    clearTimeout(stuck);
    const left = await settled(gateway.url);
    await sampling.stop();
    await gateway.stop();
    const stored = await storedIn(home, new Set(sent.map(({ session }) => session)));
    const judged = together([
      ...gone,
      judge(sent, [...stored, ...(await keptIn(home, stored))]),
      ...(await Promise.all(
        talks.map(async (one) => judgeTalk(one, await storedNames(home, one))),
      )),
      judgeStrays(await sessionsIn(home), sent, talks),
    ]);
    isWrong = judged.trails.length > 0 || judged.misplaced.length > 0 || left > 0;
    const told = { ...judged, samples, clients, door, model: model.counts, left };
    return isWrong ? { ...told, home } : told;
  } finally {
    void sampling.stop();
    over.abort();
    const { process: child } = gateway;
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    model.close();
    if (!isWrong) await rm(home, { recursive: true, force: true });
  }
}

const together = (all: readonly Judgement[]): Judgement => ({
  messages: all.reduce((sum, { messages }) => sum + messages, 0),
  lost: all.flatMap(({ lost }) => lost),
  doubled: all.flatMap(({ doubled }) => doubled),
  saidAnyway: all.flatMap(({ saidAnyway }) => saidAnyway),
  misplaced: all.flatMap(({ misplaced }) => misplaced),
  saidTwice: all.flatMap(({ saidTwice }) => saidTwice),
  trails: all.flatMap(({ trails }) => trails),
});

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
