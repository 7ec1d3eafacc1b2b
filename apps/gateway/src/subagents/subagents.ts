// Starts child sessions, knows which run, and ends each of them once.
import { randomUUID } from "node:crypto";
import {
  type HostSession,
  type LogPort,
  needsPreparation,
  type TurnResult,
} from "@clew/engine-core";
import { isAbort, type SubagentEndedParams } from "@clew/plugin-sdk/core";
import type { SubagentsConfig } from "../config/subagents.ts";
import type { Lock } from "../locks/lock.ts";
import { ToolRefusal } from "../tools/tool.ts";
import { announcedBy, announcementOf } from "./announce.ts";
import type { Child } from "./child.ts";
import type { ChildFiles } from "./child-files.ts";
import { type ChildRun, type ChildTurn, runChild } from "./child-run.ts";
import { type Ending, lostEnding } from "./ending.ts";
import { type PluginRunAsk, planPluginRun } from "./plan-plugin-run.ts";
import { planSpawn, type SpawnAsk, type SpawnFacts, type SpawnPlan } from "./plan-spawn.ts";
import { tooManyUnasked } from "./unasked.ts";

/** What the gateway lends. */
export interface SubagentPorts {
  files: ChildFiles;
  log: LogPort;
  limits: SubagentsConfig;
  /** What there is to choose from. */
  choices: () => Pick<SpawnFacts, "agents" | "engines" | "whyNoModel" | "maxModelCalls">;
  /**
   * Makes the child's transcript, once the engine may be asked, and asks it; throws where it
   * cannot prepare: then nothing may start.
   */
  prepare(
    child: Child,
    parent: HostSession,
    signal: AbortSignal,
  ): Promise<{ preparedBy: string | null; rollback(): Promise<void> }>;
  /** Takes the child's transcript away. */
  discard(child: Child): Promise<void>;
  /** Tells the engine that prepared; best effort. */
  ended(child: Child, notice: SubagentEndedParams["reason"]): Promise<void>;
  /** It runs. */
  onBegun(child: Child): void;
  /** It is over, whatever came of it. */
  onEnded(child: Child): void;
  /** One turn; undefined: there was nothing to say. */
  converse(turn: ChildTurn): Promise<TurnResult | undefined>;
  isStopping(): boolean;
}

export interface Subagents {
  /** Resolves once the child runs. Throws `ToolRefusal`, and nothing has begun then. */
  spawn(parent: HostSession, ask: SpawnAsk, options: SpawnOptions): Promise<ChildRun>;
  /**
   * The same for a plugin, in a session that it names: no engine is asked, and where it ran before
   * it goes on. `onPlanned` is called before it begins, unless it is refused.
   */
  spawnForPlugin(
    parent: Child["parent"],
    ask: PluginRunAsk,
    onPlanned: () => void,
  ): Promise<ChildRun>;
  /** Takes a session that is over away, and all that is known of it. */
  remove(child: Child): Promise<void>;
  /** The run of a session here; undefined: none. */
  runIn(key: string): ChildRun | undefined;
  /** All that are known in this process now, oldest first. */
  known(): readonly Child[];
  /**
   * All there are, oldest first; those of other processes of this home as they were a minute ago,
   * of other gateways as they are.
   */
  list(): Promise<readonly Child[]>;
  /** A session came from another gateway: what that one knew of its tree is known from now on. */
  arrived(): Promise<void>;
  /** Ends the children of a session that run, and theirs; false when none does. */
  cancelBelow(parentKey: string): boolean;
  /** The session has a new transcript, which knows of no child: its children are nobody's. */
  release(parentKey: string): Promise<void>;
  /** What a session was not told yet of children that ended. */
  untold(parentKey: string): readonly Child[];
  /** They need not be announced any more. */
  announced(children: readonly Child[]): Promise<void>;
  /** Ends what other processes left running when they died. */
  sweep(): Promise<void>;
  /** Work counts as running here until it is over. */
  inBackground<Result>(work: Promise<Result>): Promise<Result>;
  /** Some child or other work runs here. */
  isRunning(): boolean;
  /** Resolves when none does any more. */
  settled(): Promise<void>;
}

export interface SpawnOptions {
  /** True: whoever starts it waits for its end, and nobody need be told of it. */
  isAwaited: boolean;
  signal: AbortSignal;
}

export function createSubagents(ports: SubagentPorts): Subagents {
  const { files, log } = ports;
  const known = new Map<string, Child>();
  /** What this process wrote it knows best: when it wrote last, and what it is writing. */
  const wrote = new Map<string, number>();
  const writing = new Set<string>();
  let writes = 0;
  const runs = new Map<string, ChildRun>();
  /** Planned, and about to run: their locks are nobody else's. */
  const beginning = new Set<string>();
  /** Sessions that a turn is about to tell of their children. */
  const telling = new Set<string>();
  const background = new Set<Promise<unknown>>();

  const warn = (what: string) => (error: unknown) =>
    log.warn(`child sessions: ${what}: ${(error as Error).message}`);
  const written = (key: string) => {
    writes++;
    wrote.set(key, writes);
  };
  const keep = async (child: Child) => {
    written(child.key);
    known.set(child.key, child);
    await files.write(child).finally(() => written(child.key));
    return child;
  };
  const refresh = async () => {
    const before = writes;
    const found = new Map((await files.all()).map((child) => [child.key, child]));
    const isOwn = (key: string) => {
      if (files.isShared !== true) return wrote.has(key);
      const isRunning = runs.has(key) || beginning.has(key) || writing.has(key);
      return isRunning || (wrote.get(key) ?? 0) > before;
    };
    for (const key of known.keys()) if (!isOwn(key) && !found.has(key)) known.delete(key);
    for (const [key, child] of found) if (!isOwn(key)) known.set(key, child);
  };
  const inOrder = () => [...known.values()].sort((a, b) => a.startedAt - b.startedAt);
  let reading: Promise<void> | undefined;
  const ready = () => {
    reading ??= refresh();
    return reading;
  };
  let looking: Promise<void> | undefined;
  /** As they are at this moment, where others write them. */
  const current = () => {
    if (files.isShared !== true) return ready();
    looking ??= refresh().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const childrenOf = (key: string) =>
    [...known.values()].filter((child) => child.parent.key === key);
  const untold = (key: string) =>
    childrenOf(key).filter(({ state, isAnnounced }) => state === "ended" && !isAnnounced);
  const announced = async (children: readonly Child[]) => {
    const keeping = children.flatMap(({ key }) => {
      const now = known.get(key);
      return now === undefined ? [] : [keep({ ...now, isAnnounced: true })];
    });
    await Promise.all(keeping).catch(warn("a session may be told of its children twice"));
  };
  const discard = (child: Child) =>
    ports.discard(child).catch(warn(`the transcript of ${child.key} stays`));

  /** The record is durable before the engine is asked, so that a kill leaves none behind. */
  async function start(child: Child, parent: HostSession, signal: AbortSignal) {
    const lock = await files.lock(child);
    let prepared: Awaited<ReturnType<SubagentPorts["prepare"]>> | undefined;
    try {
      await keep(child);
      prepared = await ports.prepare(child, parent, signal);
      signal.throwIfAborted();
      const { preparedBy } = prepared;
      return { lock, child: await keep({ ...child, state: "running", preparedBy }) };
    } catch (error) {
      await prepared?.rollback();
      await discard(child);
      known.delete(child.key);
      await files.remove(child);
      await lock?.release();
      throw error;
    }
  }

  /** Its record is durable before it runs; nothing else has to be undone. */
  async function startUnprepared(child: Child) {
    const lock = await files.lock(child);
    try {
      if (lock === null) throw new ToolRefusal(`Another process runs session ${child.key}.`);
      return { lock, child: await keep({ ...child, state: "running" }) };
    } catch (error) {
      await lock?.release();
      throw error;
    }
  }

  /**
   * How it ended is durable before the engine is told; that it was told takes one step afterwards,
   * so that a kill hardly ever comes between.
   */
  async function finish(child: Child, ending: Ending, lock: Lock | null): Promise<Child> {
    writing.add(child.key);
    try {
      return await store(child, ending, lock);
    } finally {
      writing.delete(child.key);
      written(child.key);
    }
  }

  async function store(child: Child, ending: Ending, lock: Lock | null): Promise<Child> {
    const { reply, ...end } = ending;
    const ended = { ...child, end: { ...end, at: Date.now() }, reply };
    const noDisk = warn(`the end of ${child.key} is not on disk`);
    await keep({ ...ended, state: "ending" }).catch(noDisk);
    if (child.cleanup === "delete" || child.state === "starting") await discard(child);
    const told: Child = { ...ended, state: "ended" };
    const commit = await files.stage(told).catch(noDisk);
    if (child.plugin === null && needsPreparation(child))
      await ports.ended(child, end.notice).catch(warn(`no engine knows the end of ${child.key}`));
    try {
      await commit?.();
    } catch (error) {
      noDisk(error);
    }
    known.set(told.key, told);
    ports.onEnded(told);
    await lock?.release().catch(warn(`the lock of ${child.key} stays`));
    return told;
  }

  /** One turn that tells a session of all its children that are over by then. */
  function tell(key: string, signal?: AbortSignal): Promise<TurnResult | undefined> {
    let told: readonly Child[] = [];
    return ports.converse({
      ...{ key, signal },
      said(branch) {
        telling.delete(key);
        // What it is not told now waits for somebody who speaks in it.
        told = tooManyUnasked(branch) ? [] : untold(key);
        if (told.length === 0) return undefined;
        return { content: announcementOf(told), provenance: announcedBy(told) };
      },
      onAccepted: () => void inBackground(announced(told)),
    });
  }

  /** One that runs here tells itself; what was cancelled or lost waits for a person's turn. */
  function announce({ parent, end }: Child): void {
    const { key } = parent;
    if (ports.isStopping() || runs.has(key) || telling.has(key)) return;
    if (end?.outcome === "cancelled" || end?.outcome === "lost") return;
    telling.add(key);
    const told = tell(key).catch((error: unknown) => {
      if (!isAbort(error) && !ports.isStopping()) warn(`${key} was not told`)(error);
    });
    void inBackground(told.finally(() => telling.delete(key)));
  }

  function inBackground<Result>(work: Promise<Result>): Promise<Result> {
    const done = work.finally(() => background.delete(done));
    background.add(done);
    return done;
  }

  const cancelBelow = (parentKey: string, why: "cancelled" | "released" = "cancelled") => {
    const running = childrenOf(parentKey).flatMap(({ key }) => runs.get(key) ?? []);
    for (const run of running) run.stop(why);
    return running.length > 0;
  };

  async function sweep() {
    await refresh();
    for (const child of [...known.values()].filter(({ state }) => state !== "ended")) {
      if (runs.has(child.key) || beginning.has(child.key)) continue;
      const lock = await files.lock(child);
      if (lock === null) continue;
      const now = await files.read(child);
      if (now === undefined || now.state === "ended") await lock.release();
      else await finish(now, lostEnding(now), lock);
    }
    await files.tidy();
  }

  /** A plan counts from here on, so that calls at once start no more than there may be. */
  function planned(parent: Child["parent"], plan: (facts: SpawnFacts) => SpawnPlan): Child {
    const decided = plan({
      ...{ ...ports.choices(), parent, children: [...known.values()] },
      ...{ limits: ports.limits, id: randomUUID(), now: Date.now() },
    });
    if (decided.kind === "refused") throw new ToolRefusal(decided.reason);
    written(decided.child.key);
    known.set(decided.child.key, decided.child);
    return decided.child;
  }

  async function begin(child: Child, work: () => Promise<ChildRun>): Promise<ChildRun> {
    beginning.add(child.key);
    try {
      return await work();
    } finally {
      beginning.delete(child.key);
    }
  }

  function launch(
    { child, lock }: Awaited<ReturnType<typeof start>>,
    { task, isAwaited }: { task: string; isAwaited: boolean },
  ): ChildRun {
    const run = runChild({
      ...{ child, task, isStopping: ports.isStopping, converse: ports.converse },
      family: {
        running: () => childrenOf(child.key).flatMap((each) => runs.get(each.key) ?? []),
        hasUntold: () => untold(child.key).length > 0,
        tell: (stopped) => tell(child.key, stopped),
        cancel: () => cancelBelow(child.key),
      },
      async finish(ending) {
        const ended = await finish(child, ending, lock);
        runs.delete(child.key);
        if (!isAwaited) announce(ended);
        return ended;
      },
    });
    runs.set(child.key, run);
    ports.onBegun(child);
    void inBackground(run.ended);
    return run;
  }

  return {
    async spawn(parent, ask, { isAwaited, signal }) {
      await ready();
      const { agentId, sessionId, sessionKey: key } = parent;
      const child = planned({ key, agentId, sessionId }, (facts) => planSpawn(ask, facts));
      return begin(child, async () => {
        const started = await start(child, parent, signal).catch((error: unknown) => {
          known.delete(child.key);
          throw isAbort(error, signal) ? error : new ToolRefusal((error as Error).message);
        });
        return launch(started, { task: ask.task, isAwaited });
      });
    },
    async spawnForPlugin(parent, ask, onPlanned) {
      await ready();
      const before = known.get(ask.key);
      const child = planned(parent, (facts) => planPluginRun(ask, facts));
      onPlanned();
      return begin(child, async () => {
        const started = await startUnprepared(child).catch((error: unknown) => {
          if (before === undefined) known.delete(child.key);
          else known.set(child.key, before);
          throw error;
        });
        return launch(started, { task: ask.task, isAwaited: !ask.delivers });
      });
    },
    async remove(child) {
      await ports.discard(child);
      known.delete(child.key);
      await files.remove(child);
    },
    runIn: (key) => runs.get(key),
    known: inOrder,
    async list() {
      await current();
      return inOrder();
    },
    arrived: async () => {
      if (files.isShared === true) await current();
    },
    cancelBelow: (parentKey) => cancelBelow(parentKey),
    async release(parentKey) {
      await current();
      cancelBelow(parentKey, "released");
      await Promise.all(childrenOf(parentKey).map(({ key }) => runs.get(key)?.ended));
      await announced(untold(parentKey));
    },
    ...{ untold, announced, sweep, inBackground },
    isRunning: () => background.size > 0,
    async settled() {
      while (background.size > 0) await Promise.allSettled(background);
    },
  };
}
