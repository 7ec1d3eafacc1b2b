// Runs a plugin in a process of its own, which is started again when it ends.

import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import {
  type LlmCompleteParams,
  type MemoryPromptParams,
  prepareMemorySystemPromptAddition,
} from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import { mainThreadTimes } from "../contain/loop-thread.ts";
import type { PluginFiles } from "../find/manifest.ts";
import { messageOf } from "../invalid.ts";
import { locateErrorsIn } from "../load/error-place.ts";
import type { LoadContext, LoadResult } from "../load/load-plugin.ts";
import type { StrayKind } from "../strays.ts";
import {
  type IsolatedOffer,
  type IsolatedOrder,
  NotRunning,
  type PluginProcess,
  planRestart,
  planSilence,
  type Silence,
  type ToolContext,
} from "./order.ts";
import { createPeer, type Peer, type Verbs } from "./peer.ts";
import { registrationsOf } from "./remote-offers.ts";

export interface IsolatedPlugin {
  pluginId: string;
  /** Lets its engines go, and ends its process. */
  end(): Promise<void>;
}

export interface IsolateContext extends LoadContext {
  /** It ended, and is being started again: its engines are to be made anew. */
  onEnded(pluginId: string): void;
  /** Longest time it may not answer; 0 = any. */
  watchdogSeconds: number;
  /** Sessions for which its tools are listed. Absent: they are listed without one. */
  listedFor?: readonly ToolContext[] | undefined;
  /** How long a call waits for a process that is being started again, ms. Absent: a second. */
  waitMs?: number;
}

const LOAD_MS = 60_000;
/** How often a process is started that ends each time before it offers anything. */
const FIRST_TRIES = 3;
const END_MS = 5000;
const PING_MS = 2000;
const WAIT_MS = 1000;

interface Isolation {
  result: LoadResult;
  /** Undefined: it could not be loaded. */
  isolated: IsolatedPlugin | undefined;
}

/** Never throws for what a plugin did. */
export async function loadIsolated(
  files: PluginFiles,
  entry: PluginFiles["entries"][number],
  context: IsolateContext,
): Promise<Isolation> {
  const { pluginId } = entry;
  locateErrorsIn(files.root);
  const keeper = createKeeper({ pluginId, files, entry, context });
  try {
    const { offer } = await keeper.first();
    return {
      result: { ok: true, registrations: registrationsOf(offer, keeper.ready) },
      isolated: { pluginId, end: keeper.end },
    };
  } catch (error) {
    await keeper.end();
    return { result: { ok: false, reason: messageOf(error) }, isolated: undefined };
  }
}

interface KeeperRequest {
  pluginId: string;
  files: PluginFiles;
  entry: PluginFiles["entries"][number];
  context: IsolateContext;
}

/** Keeps one process running until it is told to end. */
function createKeeper(request: KeeperRequest) {
  const { pluginId, context } = request;
  const { log, strays, waitMs = WAIT_MS } = context;
  const deaths: number[] = [];
  const isOver = () => ended || (context.isRetired?.() ?? false);
  let ended = false;
  let lastEnd = { how: "", startsAt: 0 };
  let child: ChildProcess | undefined;
  let running: Promise<StartedProcess> | undefined;
  const current = () => (running ??= start());

  /** What ends a process while it starts may be nothing of the plugin's, and not come again. */
  async function first(): Promise<StartedProcess> {
    for (let tries = 1; ; tries++) {
      try {
        return await current();
      } catch (error) {
        if (!(error instanceof Ended) || tries === FIRST_TRIES || isOver()) throw error;
        strays.note(
          pluginId,
          `its process ended while it started (${error.how}); it is started again`,
        );
        running = undefined;
      }
    }
  }

  function start(): Promise<StartedProcess> {
    const started = startProcess(request, (spawned) => {
      child = spawned;
    });
    started.then(
      ({ gone }) => void gone.then(again),
      () => {},
    );
    // Whoever waits for it is told.
    started.catch(() => {});
    return started;
  }

  async function again(how: string): Promise<void> {
    if (isOver()) return;
    deaths.push(Date.now());
    const { pauseMs } = planRestart(deaths, Date.now());
    const when =
      pauseMs === 0 ? "it is started again" : `it is started again in ${pauseMs / 1000} s`;
    strays.note(pluginId, `its process ended (${how}); ${when}`);
    lastEnd = { how: how.replace(/\.$/, ""), startsAt: Date.now() + pauseMs };
    // Those whose calls met its end are told of it first: they alone are concerned.
    setImmediate(() => {
      if (!isOver()) context.onEnded(pluginId);
    });
    running = pause(pauseMs, undefined, { ref: false }).then(() => start());
    running.catch(() => {});
    try {
      await running;
      if (!isOver()) log.info(`[plugins] ${pluginId}: its process runs again`);
    } catch (error) {
      await again(error instanceof Ended ? error.how : messageOf(error));
    }
  }

  /** Throws `NotRunning`: nobody waits long for a process that is being started again. */
  async function ready(): Promise<PluginProcess> {
    const notYet = () =>
      new NotRunning(
        `the process of plugin "${pluginId}" ended (${lastEnd.how}) and does not run again yet`,
      );
    if (lastEnd.startsAt - Date.now() > waitMs) throw notYet();
    const onTimeout = () => {
      throw notYet();
    };
    return within({ boundMs: waitMs, onTimeout }, () =>
      current().catch(() => {
        throw notYet();
      }),
    );
  }

  return {
    ...{ first, ready },
    async end(): Promise<void> {
      ended = true;
      const onTimeout = () => {
        throw new Error("late");
      };
      const ending = async () => {
        const { peer, gone } = await current();
        await peer.call("end");
        peer.close(new Error(`plugin "${pluginId}" was told to end`));
        await gone;
      };
      await within({ boundMs: END_MS, onTimeout }, ending).catch(() => {});
      child?.kill("SIGKILL");
    },
  };
}

class Ended extends Error {
  readonly how: string;
  constructor(pluginId: string, how: string) {
    super(`the process of plugin "${pluginId}" ended (${how})`);
    this.how = how;
  }
}

interface StartedProcess extends PluginProcess {
  /** Resolves with how it ended. */
  gone: Promise<string>;
}

async function startProcess(
  { pluginId, files, entry, context }: KeeperRequest,
  onSpawned: (child: ChildProcess) => void,
): Promise<StartedProcess> {
  const program = createRequire(import.meta.url).resolve("#isolated-process");
  const source = program.endsWith(".ts") ? ["--conditions=@clew/source"] : [];
  const node = [...source, "--disable-warning=ExperimentalWarning"];
  // Its output is the gateway's: so are its noise and its warnings in the gateway's process.
  const child = spawn(process.execPath, [...node, program], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  onSpawned(child);
  let silence: string | undefined;
  const peer = createPeer({
    ...{ stream: child.stdio[3] as unknown as Duplex, role: "host" },
    verbs: verbsFor(pluginId, context),
    // Without the line it is of no use; how it ended is known a moment later.
    onEnd: () => void setTimeout(() => child.kill("SIGKILL"), END_MS).unref(),
  });
  const gone = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) =>
      resolve(silence ?? (signal === null ? `exit code ${code}` : signal)),
    );
  });
  void gone.then((how) => {
    clearInterval(pinging);
    peer.close(new Ended(pluginId, how));
  });
  const watched = { peer, pid: child.pid, limitSeconds: context.watchdogSeconds };
  const pinging = watch(watched, (seconds) => {
    silence = `it did not answer for ${seconds} s`;
    child.kill("SIGKILL");
  });
  const { home, mode, entryConfig, listedFor = [{}] } = context;
  const order: IsolatedOrder = {
    ...{ files, entry, home, mode, config: context.config(), entryConfig, listedFor },
  };
  const onTimeout = () => {
    throw new Error(`Plugin "${pluginId}" did not finish loading within ${LOAD_MS / 1000} s.`);
  };
  try {
    const offer = await within({ boundMs: LOAD_MS, onTimeout }, () => peer.call("load", order));
    return { peer, offer: offer as IsolatedOffer, gone };
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

/** What the plugin's process may ask for. */
function verbsFor(pluginId: string, context: IsolateContext): Verbs {
  const { log, strays } = context;
  return {
    log: (level: "info" | "warn" | "error", message: string) => log[level](message),
    stray: (message: string, kind?: StrayKind) => void strays.note(pluginId, message, kind),
    complete: (params: LlmCompleteParams) => context.complete(pluginId, params),
    memory: async (params: MemoryPromptParams) =>
      (await prepareMemorySystemPromptAddition(params))?.split("\n") ?? [],
  };
}

/** Asks now and then whether anybody is there. */
function watch(
  { peer, pid, limitSeconds }: { peer: Peer; pid: number | undefined; limitSeconds: number },
  onSilent: (seconds: number) => void,
): NodeJS.Timeout | undefined {
  if (limitSeconds === 0) return undefined;
  let isAsked = false;
  let silent: Silence = { silentMs: 0, lookedAt: 0, queuedMs: 0 };
  const look = () => ({ now: performance.now(), queuedMs: mainThreadTimes(pid)?.queuedMs ?? 0 });
  return setInterval(() => {
    if (isAsked) {
      silent = planSilence(silent, look(), PING_MS);
      if (silent.silentMs >= limitSeconds * 1000) onSilent(limitSeconds);
      return;
    }
    isAsked = true;
    const { now, queuedMs } = look();
    silent = { silentMs: 0, lookedAt: now, queuedMs };
    peer.call("ping").then(
      () => {
        isAsked = false;
      },
      () => {},
    );
  }, PING_MS).unref();
}
