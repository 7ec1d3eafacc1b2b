// Keeps one Codex app-server for all sessions of an agent with one provider.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { sleep } from "@clew/plugin-sdk/host";
import type { AskedProvider, HarnessOptions } from "../harness.ts";
import type { Connection } from "./connection.ts";
import { planCodexHome } from "./plan-home.ts";
import { afterEnd, NEVER_STARTED, type StartRecord, waitBefore } from "./plan-restart.ts";
import { AnythingSchema, OfThreadSchema } from "./protocol.ts";
import { startCodex } from "./start.ts";

/** Who follows one thread. */
export interface ThreadListener {
  news(method: string, params: unknown): void;
  asked(method: string, params: unknown): Promise<unknown>;
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
  /** Every message about a thread goes to one listener; the function it gives ends that. */
  follow(threadId: string, listener: ThreadListener): () => void;
}

export interface Servers {
  /** Starts it where it does not run; throws HARNESS_UNAVAILABLE. */
  use(agentId: string, provider: AskedProvider): Promise<CodexServer>;
  /** Of a thread that nobody asks for again; also where no process runs that could do it. */
  deleteThread(agentId: string, provider: string, threadId: string): Promise<void>;
  close(): Promise<void>;
}

interface Place {
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
    const asks = await relay.open(provider);
    const listeners = new Map<string, ThreadListener>();
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
    return { connection, version, loaded, follow };
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
      await removeRollouts(folderOf(agentId, provider), threadId);
    },
    async use(agentId, provider) {
      if (isClosed) throw unavailable("The gateway is closing, so Codex is not started.");
      const id = `${agentId} ${provider.name}`;
      const folder = folderOf(agentId, provider.name);
      const signature = provider.baseUrl;
      const place = places.get(id) ?? { signature, record: NEVER_STARTED, running: undefined };
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
      const running = [...places.values()].flatMap(({ running }) => running ?? []);
      places.clear();
      await Promise.allSettled(running.map(async (server) => (await server).connection.close()));
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

const safe = (name: string): string => name.replace(/[^A-Za-z0-9._-]/g, "_");

const unavailable = (message: string) => new ContextEngineError("HARNESS_UNAVAILABLE", message);
