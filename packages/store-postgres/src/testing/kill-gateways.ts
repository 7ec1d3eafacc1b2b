// Kills and freezes gateways in the middle of turns, and judges what their sessions hold.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../database.ts";
import { openPostgresStore } from "../store.ts";
import { type Damage, judge } from "./killed-turns.ts";
import { SIMPLE_PORTS, textsOf } from "./simple-ports.ts";

export interface KillPlan {
  /** The database's address. */
  url: string;
  /** How each gateway ends, one after the other. */
  ends: readonly ("kill" | "freeze")[];
  gateways?: number;
  sessions?: number;
  /** After this time unheard of a gateway is dead. */
  ttlMs?: number;
  /** False: as a control, nobody asks whose a session is. */
  isFenced?: boolean;
  onEnd?: (done: number) => void;
}

export interface KillResult extends Damage {
  /** Turns that were acknowledged. */
  turns: number;
  /** Writes that came late and were refused. */
  refused: number;
  /** From an end to when every session of that gateway was written by another, ms, sorted. */
  takeovers: number[];
  /** Gateways that went on after they were frozen for longer than they count as alive. */
  outlived: string[];
  /** Acknowledgements and reports of the turns that are there, where they are not one each. */
  unpaired: string[];
}

/** Whoever has not noticed its death by then never will. */
const NOTICES_MS = 10_000;

const WORKER = fileURLToPath(new URL("kill-worker.ts", import.meta.url));

interface Worker {
  address: string;
  process: ChildProcess;
  ready: Promise<void>;
  ended: Promise<unknown>;
}

export async function killGateways({
  url,
  ends,
  gateways = 3,
  sessions = 6,
  ttlMs = 600,
  isFenced = true,
  onEnd = () => {},
}: KillPlan): Promise<KillResult> {
  const done = new Map<number, Set<number>>();
  let refused = 0;
  let started = 0;
  let isOver = false;
  const workers: Worker[] = [];
  const takeovers: number[] = [];
  const outlived: string[] = [];
  const database = openDatabase({ url, connections: 1, timeoutMs: 15_000 });

  function start(slot: number): void {
    const address = `gateway ${started++}`;
    const args = [url, address, String(sessions), String(ttlMs), isFenced ? "fenced" : "free"];
    const node = ["--conditions=@clew/source", "--disable-warning=ExperimentalWarning"];
    const child = spawn(process.execPath, [...node, WORKER, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let isReady = () => {};
    const ready = new Promise<void>((resolve) => {
      isReady = resolve;
    });
    createInterface({ input: child.stdout! }).on("line", (line) => {
      const [what, session, turn] = line.split(" ");
      if (what === "ready") isReady();
      if (what === "refused") refused += 1;
      if (what !== "done") return;
      const turns = done.get(Number(session)) ?? new Set();
      done.set(Number(session), turns.add(Number(turn)));
    });
    const ended = once(child, "close");
    // Who was thought dead ends by itself, and another takes its place.
    void ended.then(() => isReady()).then(() => void (!isOver && start(slot)));
    workers[slot] = { address, process: child, ready, ended };
  }

  async function end(slot: number, how: "kill" | "freeze"): Promise<void> {
    const victim = workers[slot]!;
    await victim.ready;
    await expectTurns();
    const owned = await database.ask(OWNED, [victim.address]);
    const at = performance.now();
    victim.process.kill(how === "kill" ? "SIGKILL" : "SIGSTOP");
    const taken = takenOver(owned, victim.address, at);
    if (how === "freeze") {
      await Promise.all([taken, after(ttlMs * 2 + 100)]);
      victim.process.kill("SIGCONT");
    }
    await taken;
    if ((await Promise.race([victim.ended, after(NOTICES_MS)])) !== undefined) return;
    outlived.push(victim.address);
    victim.process.kill("SIGKILL");
    await victim.ended;
  }

  /** Every session that was under way when its gateway ended is written by another one. */
  async function takenOver(
    owned: readonly { id: string; step: number }[],
    address: string,
    at: number,
  ): Promise<void> {
    if (owned.length === 0) return;
    for (;;) {
      const now = await database.ask(STEPS, [owned.map(({ id }) => id), address]);
      const steps = new Map(now.map(({ id, step }) => [id, step]));
      if (owned.every(({ id, step }) => (steps.get(id) ?? 0) > step + 1)) break;
      await after(10);
    }
    takeovers.push(performance.now() - at);
  }

  /** Somebody works, so that the next end is in the middle of something. */
  async function expectTurns(): Promise<void> {
    const before = [...done.values()].reduce((sum, turns) => sum + turns.size, 0);
    const now = () => [...done.values()].reduce((sum, turns) => sum + turns.size, 0);
    while (now() < before + 3) await after(10);
  }

  for (let slot = 0; slot < gateways; slot++) start(slot);
  try {
    for (const [index, how] of ends.entries()) {
      await end(index % gateways, how);
      onEnd(index + 1);
    }
  } finally {
    isOver = true;
    for (const { process: child } of workers) {
      child.kill("SIGCONT");
      child.kill("SIGTERM");
    }
    await Promise.all(workers.map(({ ended }) => ended));
  }
  const damage = await look(url, sessions, done, isFenced);
  await database.end();
  const turns = [...done.values()].reduce((sum, each) => sum + each.size, 0);
  return { ...damage, turns, refused, outlived, takeovers: takeovers.toSorted((a, b) => a - b) };
}

const OWNED = {
  name: "killed-owned",
  text: `
    select s.id, s.step::float8 from session s join node n on n.id = s.owner where n.address = $1`,
  row: {} as { id: string; step: number },
};

/** Steps of sessions that are another's by now. */
const STEPS = {
  name: "killed-steps",
  text: `
    select s.id, s.step::float8 from session s left join node n on n.id = s.owner
    where s.id = any ($1) and n.address is distinct from $2`,
  row: {} as { id: string; step: number },
};

async function look(
  url: string,
  sessions: number,
  done: ReadonlyMap<number, ReadonlySet<number>>,
  isFenced: boolean,
): Promise<Damage & { unpaired: string[] }> {
  const store = await openStore(url);
  const all: Damage & { unpaired: string[] } = {
    ...{ entries: 0, lost: [], doubled: [], misplaced: [], unpaired: [] },
  };
  for (let session = 0; session < sessions; session++) {
    const transcript = await openWhenFree(store, `session ${session}`);
    const branch = (await transcript.read({ after: null })) ?? [];
    const found = judge(
      branch.map((entry) => textsOf([entry])),
      done.get(session) ?? [],
    );
    all.entries += found.entries;
    for (const what of ["lost", "doubled", "misplaced"] as const)
      all[what].push(...found[what].map((each) => `${session}: ${each}`));
    const whole = branch.map((entry) => textsOf([entry])).filter((text) => text.endsWith(".3"));
    const reports = await store.reports(transcript.session, { limit: 1_000_000 });
    const acknowledged = transcript.deliveries.lines.map(({ change }) => change.kind);
    if (isFenced && acknowledged.join() !== whole.join()) all.unpaired.push(`${session}: lines`);
    if (isFenced && reports.length !== whole.length) all.unpaired.push(`${session}: reports`);
  }
  await store.close();
  return all;
}

async function openWhenFree(store: Awaited<ReturnType<typeof openStore>>, key: string) {
  for (;;) {
    const name = { agentId: "main", key };
    const opened = await store.open(name).catch((error: { code?: string }) => {
      if (error.code !== "SESSION_LOCKED") throw error;
      return null;
    });
    if (opened !== null) return opened;
    await after(50);
  }
}

const openStore = (url: string) =>
  openPostgresStore({ url, address: "judge", ports: SIMPLE_PORTS });
