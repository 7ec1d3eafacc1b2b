// Hands work to the gateways of a database by pg-boss, each piece to one of them at a time.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { PgBoss as Boss } from "pg-boss";
import type { Database } from "../database.ts";
import { storageFailed } from "../failure.ts";
import { LIVES, quietly } from "../node.ts";
import { codeOf } from "../passing.ts";
import { JOBS_SCHEMA, knownJobsVersion, planJobsSchema, readJobsSchema } from "./queue-schema.ts";

/** A piece of work. */
export interface QueuedWork {
  /** Under which it was sent. */
  key: string;
  /** As it was given: plain data. */
  data: unknown;
}

/** Does a piece of work; where it rejects, another gateway or the same one does it once more. */
export type RunWork = (work: QueuedWork, signal: AbortSignal) => Promise<void>;

/** What gateways of one database work on together. */
export interface PostgresQueue {
  /**
   * Durable when it resolves. What waits or is done under this key (letters, digits, dots, dashes,
   * underscores and slashes) is not sent again.
   */
  send(queue: string, work: QueuedWork): Promise<void>;
  /** Does what was sent, several at a time, until it is stopped; the signal fires with that. */
  work(queue: string, run: RunWork): Promise<void>;
  /** All gateways together do it once in each such time, and never two of them at once. */
  every(name: string, everyMs: number, run: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Begins nothing more; what runs gets so long, and is left to others then. Never rejects. */
  stop(graceMs?: number): Promise<void>;
}

export interface QueueOptions {
  database: Database;
  /** Fires when this gateway may no longer act. */
  alive: AbortSignal;
  /** Of this gateway, as others are told of it. */
  version: string;
  /** Told once of what fails, until something is done again. One sentence. */
  onTrouble(why: string): void;
  /** How often it is looked for work of gateways that died, seconds. Absent: 10. */
  superviseSeconds?: number;
  /** How often it looks for work that others sent, seconds. Absent: 5. */
  pollSeconds?: number;
}

/** Pieces of work of one queue at a time, at one gateway. */
const AT_ONCE = 8;
/** A gateway that does not say for so long that it works on something does not, s: the least. */
const DEAD_AFTER_S = 10;
/** The longest that pg-boss allows. */
const LONGEST_S = 24 * 3600;
/** What is done more often than that is no use to anybody. */
const KEPT_S = 24 * 3600;

/** Whoever makes the schema beside another who does is told that it is there. */
const IS_THERE = /^(?:23505|42P06|42P07|42710)$/;
const TRIES = 5;

/** Throws STORAGE_FAILED where its tables cannot be used or made. */
export async function openQueue(options: QueueOptions): Promise<PostgresQueue> {
  for (let again = 1; ; again++)
    try {
      return await openOnce(options);
    } catch (error) {
      if (again === TRIES || !IS_THERE.test(codeOf(error) ?? "")) throw storageFailed(error);
    }
}

async function openOnce(options: QueueOptions): Promise<PostgresQueue> {
  const { database, alive, superviseSeconds = 10, pollSeconds = 5 } = options;
  const found = await readJobsSchema((text) => database.askPlainly(text));
  const plan = planJobsSchema(found, { known: await knownJobsVersion(), ...found });
  if (plan.kind === "refused") throw new ContextEngineError("STORAGE_FAILED", plan.problem);
  if (plan.kind === "make" && found.version !== null)
    await requireNobodyOlder(options, found.version);
  const { PgBoss } = await import("pg-boss");
  const boss = new PgBoss({
    db: { executeSql: async (text, values) => ({ rows: await database.askPlainly(text, values) }) },
    schema: JOBS_SCHEMA,
    createSchema: plan.kind === "make" && plan.makesSchema,
    // When jobs are due is decided by code that files share, with its rules of clocks.
    ...{ schedule: false, registerInstance: false, flowIntervalSeconds: LONGEST_S },
    ...{ superviseIntervalSeconds: superviseSeconds, monitorIntervalSeconds: superviseSeconds },
  });
  const trouble = createTrouble(options.onTrouble);
  boss.on("error", (error) => trouble.tell(error));
  try {
    await boss.start();
  } catch (error) {
    await boss.stop({ close: false, graceful: false }).catch(() => {});
    throw error;
  }
  return createQueue(boss, { alive, pollSeconds, trouble });
}

const OTHERS = `
  select address, version from node where version <> $1 and ${LIVES("node")} order by address`;

/** One of this version may start in the same moment, and changes them as this one does. */
async function requireNobodyOlder(
  { database, version }: Pick<QueueOptions, "database" | "version">,
  there: number,
): Promise<void> {
  const others = await database.askPlainly<{ address: string; version: string }>(OTHERS, [version]);
  if (others.length === 0) return;
  const named = others.map((each) => `${each.address} (${each.version || "unknown"})`).join(", ");
  throw new ContextEngineError(
    "STORAGE_FAILED",
    `The tables of pg-boss are of version ${there}, and this gateway would change them while others of another version work with them: ${named}; stop all of them, and try again.`,
  );
}

/** Says the same only once, until something went well. */
function createTrouble(onTrouble: QueueOptions["onTrouble"]) {
  let isTold = false;
  return {
    tell(error: unknown) {
      if (!isTold) onTrouble(storageFailed(error).message);
      isTold = true;
    },
    isOver() {
      isTold = false;
    },
  };
}

interface Parts {
  alive: AbortSignal;
  pollSeconds: number;
  trouble: ReturnType<typeof createTrouble>;
}

function createQueue(boss: Boss, { alive, pollSeconds, trouble }: Parts): PostgresQueue {
  const stopping = new AbortController();
  const life = AbortSignal.any([stopping.signal, alive]);
  const workers = new Map<string, string>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const made = new Map<string, Promise<void>>();
  let isStopped = false;
  let stopped: Promise<void> | undefined;

  /** Of one key one waits or is done at a time. */
  const make = (queue: string, keptSeconds = KEPT_S): Promise<void> => {
    const making =
      made.get(queue) ??
      boss.createQueue(queue, {
        ...{ policy: "exclusive", retryLimit: 1_000, retryDelay: 1, retryBackoff: true },
        ...{ retryDelayMax: 60, heartbeatSeconds: DEAD_AFTER_S, expireInSeconds: LONGEST_S },
        deleteAfterSeconds: keptSeconds,
      });
    made.set(queue, making);
    making.catch(() => made.delete(queue));
    return making;
  };
  const wake = (queue: string) => {
    const worker = workers.get(queue);
    if (worker !== undefined) boss.notifyWorker(worker);
  };
  const begin = async (
    queue: string,
    run: RunWork,
    { atOnce, every }: { atOnce: number; every: number },
  ) => {
    const options = { localConcurrency: atOnce, pollingIntervalSeconds: every };
    const worker = await boss.work<QueuedWork>(queue, options, async ([job]) => {
      trouble.isOver();
      life.throwIfAborted();
      await run(job!.data, AbortSignal.any([job!.signal, life]));
    });
    workers.set(queue, worker);
  };

  return {
    async send(queue, { key, data }) {
      if (isStopped) return;
      try {
        await make(queue);
        const sent = await boss.send(queue, { key, data }, { singletonKey: key });
        if (sent !== null) wake(queue);
      } catch (error) {
        fail(error);
      }
    },
    async work(queue, run) {
      await make(queue).catch(fail);
      await begin(queue, run, { atOnce: AT_ONCE, every: pollSeconds });
    },
    async every(name, everyMs, run) {
      const seconds = Math.max(1, Math.round(everyMs / 1000));
      await make(name, Math.max(3600, 3 * seconds)).catch(fail);
      await begin(name, (_work, signal) => run(signal), { atOnce: 1, every: pollSeconds });
      const lookMs = Math.min(everyMs / 2, LOOK_MS);
      const ask = async () => {
        if (life.aborted || isStopped) return;
        // Of all who ask in this time one is heard.
        const once = { singletonKey: name, singletonSeconds: seconds };
        const work = { key: name, data: null };
        const sent = await boss.send(name, work, once).catch((error) => trouble.tell(error));
        if (sent !== null && sent !== undefined) wake(name);
      };
      const timer = quietly(setInterval(() => void ask(), lookMs));
      timers.add(timer);
      await ask();
    },
    stop(graceMs = 0) {
      stopped ??= (async () => {
        isStopped = true;
        for (const timer of timers) clearInterval(timer);
        const cancel = quietly(setTimeout(() => stopping.abort(leftToOthers()), graceMs));
        // Where the database is away nobody may answer.
        const ended = boss.stop({ close: false, graceful: true, timeout: graceMs + LAST_MS });
        const late = new Promise<void>((resolve) =>
          quietly(setTimeout(resolve, graceMs + 2 * LAST_MS)),
        );
        await Promise.race([ended.catch(() => {}), late]);
        clearTimeout(cancel);
      })();
      return stopped;
    },
  };
}

/** Longest time between two questions whether something is to be done again, ms. */
const LOOK_MS = 10 * 60_000;
/** For what was told to stop, ms. */
const LAST_MS = 1_500;

const leftToOthers = () =>
  new DOMException("This gateway stops; another one goes on with it.", "AbortError");

function fail(error: unknown): never {
  throw storageFailed(error);
}
