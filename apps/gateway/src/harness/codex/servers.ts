// Keeps one Codex app-server for all sessions of an agent with one provider.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { type ModelError, sleep } from "@clew/plugin-sdk/host";
import type { AskedProvider, HarnessOptions } from "../harness.ts";
import type { Connection } from "./connection.ts";
import { planCodexHome } from "./plan-home.ts";
import { afterEnd, NEVER_STARTED, type StartRecord, waitBefore } from "./plan-restart.ts";
import { AnythingSchema, AskingSchema, OfThreadSchema } from "./protocol.ts";
import { startCodex } from "./start.ts";

/** Who follows one thread. */
export interface ThreadListener {
  news(method: string, params: unknown): void;
  asked(method: string, params: unknown): Promise<unknown>;
  /** A call of its model was answered; null = well. */
  answered(error: ModelError | null): void;
  /** Somebody else follows the thread from now on. */
  replaced(): void;
  /** The process is gone. */
  ended(sentence: string): void;
}

/** A process that runs. */
export interface CodexServer {
  readonly connection: Connection;
  readonly version: string;
  /** Threads that it holds in memory. */
  readonly loaded: Set<string>;
  /** No turn runs in any of its threads. */
  isIdle(): boolean;
  /** Every message about a thread goes to one listener; the function it gives ends that. */
  follow(threadId: string, listener: ThreadListener): () => void;
  /** A turn came to its end in it: ends before that are not in a row with those after it. */
  worked(): void;
}

export interface Servers {
  /** Starts it where it does not run; throws HARNESS_UNAVAILABLE. */
  use(agentId: string, provider: AskedProvider): Promise<CodexServer>;
  /** Of a thread that nobody asks for again; also where no process runs that could do it. */
  deleteThread(agentId: string, provider: string, threadId: string): Promise<void>;
  close(): Promise<void>;
}

interface Place {
  /** Of its own, absolute. */
  folder: string;
  /** Its databases hold what is to be forgotten. */
  isToForget: boolean;
  /** Of what it was started with; another one starts it anew. */
  signature: string;
  record: StartRecord;
  running: Promise<CodexServer> | undefined;
}

/** Whoever waits longer is told instead. */
const LONGEST_PATIENCE_MS = 5_000;

export interface ServersOptions extends HarnessOptions {
  command: string;
  answerMs: number;
}

export function createServers(options: ServersOptions): Servers {
  const { home, env, log, relay, command, answerMs } = options;
  const places = new Map<string, Place>();
  let isClosed = false;

  const start = async (place: Place, folder: string, provider: AskedProvider) => {
    await forgetIn(place, folder);
    const listeners = new Map<string, ThreadListener>();
    const asks = await relay.open({
      ...provider,
      answered({ failure, request }) {
        const listener = listeners.get(threadAsking(request) ?? "");
        listener?.answered(failure === null ? null : provider.describe(failure));
      },
    });
    const loaded = new Set<string>();
    const startedAt = Date.now();
    const listenerOf = (params: unknown) => {
      const read = OfThreadSchema.safeParse(params);
      return read.success ? listeners.get(read.data.threadId) : undefined;
    };
    const noteEnd = () => {
      asks.close();
      place.record = afterEnd(place.record, { startedAt, now: Date.now() });
    };
    const started = await startCodex({
      ...{
        command,
        folder,
        home: planCodexHome({ ...asks, name: provider.name }),
        env,
        log,
        answerMs,
      },
      handlers: {
        news: (method, params) => listenerOf(params)?.news(method, params),
        async asked(method, params) {
          const listener = listenerOf(params);
          if (listener === undefined) throw new Error(`nobody answers ${method}`);
          return listener.asked(method, params);
        },
      },
    }).catch((error: unknown) => {
      noteEnd();
      throw error;
    });
    const { connection, version } = started;
    void connection.ended.then((sentence) => {
      noteEnd();
      place.running = undefined;
      for (const listener of [...listeners.values()]) listener.ended(sentence);
    });
    log.info(`Codex ${version} runs`, { folder });
    const follow: CodexServer["follow"] = (threadId, listener) => {
      const before = listeners.get(threadId);
      listeners.set(threadId, listener);
      before?.replaced();
      return () => {
        if (listeners.get(threadId) === listener) listeners.delete(threadId);
      };
    };
    const worked = () => {
      place.record = NEVER_STARTED;
    };
    const isIdle = () => listeners.size === 0;
    return { connection, version, loaded, follow, worked, isIdle };
  };

  const forgetIn = async (place: Place, folder: string) => {
    if (!place.isToForget) return;
    await removeDatabases(folder);
    place.isToForget = false;
  };
  const folderOf = (agentId: string, provider: string) =>
    join(home, "agents", agentId, "harness", "codex", safe(provider));
  return {
    async deleteThread(agentId, provider, threadId) {
      const server = await places.get(`${agentId} ${provider}`)?.running?.catch(() => undefined);
      if (server !== undefined) {
        await server.connection
          .request("thread/delete", { threadId }, AnythingSchema)
          .catch(() => {});
        server.loaded.delete(threadId);
      }
      const place = places.get(`${agentId} ${provider}`);
      const folder = folderOf(agentId, provider);
      await removeRollouts(folder, threadId);
      if (place?.running === undefined) return removeDatabases(folder);
      // They go when it ends, which is at once where no turn runs in it.
      place.isToForget = true;
      if (server?.isIdle() !== true) return;
      await server.connection.close();
      await forgetIn(place, folder);
    },
    async use(agentId, provider) {
      if (isClosed) throw unavailable("The gateway is closing, so Codex is not started.");
      const id = `${agentId} ${provider.name}`;
      const folder = folderOf(agentId, provider.name);
      const signature = provider.baseUrl;
      const place = places.get(id) ?? {
        ...{ folder, signature, record: NEVER_STARTED, running: undefined, isToForget: false },
      };
      places.set(id, place);
      if (place.running !== undefined && place.signature !== signature) {
        // Another address: threads and bindings survive on disk.
        const before = place.running;
        place.running = undefined;
        await before.then(({ connection }) => connection.close()).catch(() => {});
      }
      place.signature = signature;
      if (place.running === undefined) {
        const wait = waitBefore(place.record, Date.now());
        if (wait > LONGEST_PATIENCE_MS)
          throw unavailable(
            `Codex ended ${place.record.failures} times in a row; it is started again in ${Math.ceil(wait / 1000)} s at the earliest.`,
          );
        place.running = sleep(wait).then(() => start(place, folder, provider));
        place.running.catch(() => {
          place.running = undefined;
        });
      }
      return place.running;
    },
    async close() {
      isClosed = true;
      const all = [...places.values()];
      places.clear();
      await Promise.allSettled(
        all.map(async (place) => {
          await (await place.running)?.connection.close();
          await forgetIn(place, place.folder);
        }),
      );
    },
  };
}

/** Codex's own files are its own, but what a person had forgotten must not stay in them. */
async function removeRollouts(folder: string, threadId: string): Promise<void> {
  const sessions = join(folder, "sessions");
  const files = await readdir(sessions, { recursive: true }).catch(() => []);
  const own = files.filter((file) => file.endsWith(`${threadId}.jsonl`));
  await Promise.all(own.map((file) => rm(join(sessions, file), { force: true })));
}

/** Made anew from the rollouts that there are; they keep words of threads that are gone. */
async function removeDatabases(folder: string): Promise<void> {
  const files = await readdir(folder).catch(() => []);
  const databases = files.filter((file) => /\.sqlite(?:-\w+)?$/.test(file));
  await Promise.all(databases.map((file) => rm(join(folder, file), { force: true })));
}

/** Codex calls a thread's cache by the thread's name. */
function threadAsking(request: Uint8Array): string | undefined {
  try {
    const body = AskingSchema.safeParse(JSON.parse(Buffer.from(request).toString("utf8")));
    return body.data?.prompt_cache_key;
  } catch {
    return undefined;
  }
}

const safe = (name: string): string => name.replace(/[^A-Za-z0-9._-]/g, "_");

const unavailable = (message: string) => new ContextEngineError("HARNESS_UNAVAILABLE", message);
