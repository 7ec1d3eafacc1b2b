// Tells what an engine holds open and what keeps its process from ending.
import { sleep } from "../abort.ts";

/** What is let go of without being waited for is closed by then, ms. */
const PATIENCE_MS = 250;
const STEP_MS = 10;

/** Open files under `folder`, each as often as it is open. [] also where nobody can tell. */
export async function openFilesIn(folder: string): Promise<string[]> {
  try {
    const { readdirSync, readlinkSync, realpathSync } = await import("node:fs");
    const real = realpathSync(folder);
    return readdirSync("/proc/self/fd").flatMap((fd) => {
      try {
        const file = readlinkSync(`/proc/self/fd/${fd}`);
        return file.startsWith(`${real}/`) ? [file.slice(real.length + 1)] : [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** What keeps the process from ending, by kind; nothing where nobody can tell. */
export function keepingAlive(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of globalThis.process?.getActiveResourcesInfo?.() ?? [])
    if (!PASSING.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** They end by themselves. */
const PASSING: ReadonlySet<string> = new Set(["Immediate", "TickObject", "Microtask"]);

/** The first kind of which there are more than before. Undefined: there is none. */
export const moreThan = (before: ReadonlyMap<string, number>): string | undefined =>
  [...keepingAlive()].find(([kind, count]) => count > (before.get(kind) ?? 0))?.[0];

/** What `left` still tells after some time; undefined = nothing. */
export async function stillLeft<Left>(
  left: () => Left | undefined | Promise<Left | undefined>,
): Promise<Left | undefined> {
  for (let waited = 0; ; waited += STEP_MS) {
    const found = await left();
    if (found === undefined || waited >= PATIENCE_MS) return found;
    await sleep(STEP_MS);
  }
}

/** A timer, a socket, a watcher or the like. */
interface Handle {
  kind: string;
  resource: WeakRef<object>;
}

/** What was begun in the calls of one engine and is not over. */
export interface Begun {
  /** Runs `work`, and knows what it begins. */
  within<Result>(work: () => Promise<Result>): Promise<Result>;
  /** All of it. */
  count(): number;
  /** What of it keeps the process from ending, in words. Undefined: nothing does. */
  alive(): string | undefined;
  /** Nobody looks any more. */
  end(): void;
}

/** Undefined: this runtime does not tell. */
export async function watchBegun(): Promise<Begun | undefined> {
  try {
    const { AsyncLocalStorage, createHook } = await import("node:async_hooks");
    const scope = new AsyncLocalStorage<true>();
    const held = new Map<number, Handle>();
    const hook = createHook({
      init(id, kind, _by, resource) {
        if (KINDS[kind] !== undefined && scope.getStore() === true)
          held.set(id, { kind, resource: new WeakRef(resource) });
      },
      destroy: (id) => void held.delete(id),
    }).enable();
    const keepsAlive = ({ resource }: Handle) => {
      const one = resource.deref() as { hasRef?: () => boolean } | undefined;
      return one !== undefined && one.hasRef?.() !== false;
    };
    return {
      within: (work) => scope.run(true, work),
      count: () => held.size,
      alive() {
        const found = [...held.values()].find(keepsAlive);
        return found && KINDS[found.kind];
      },
      end: () => void hook.disable(),
    };
  } catch {
    return undefined;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  Timeout: "a timer",
  ...{ TCPSERVERWRAP: "a server", TCPWRAP: "a socket", UDPWRAP: "a socket" },
  ...{ PIPESERVERWRAP: "a server", PIPEWRAP: "a pipe", PROCESSWRAP: "a process" },
  ...{ FSEVENTWRAP: "a watcher of files", STATWATCHER: "a watcher of files" },
  ...{ WORKER: "a thread", MESSAGEPORT: "a port", SIGNALWRAP: "a listener for signals" },
};

/** Listeners of this process. */
export const listenersOfProcess = (): number =>
  globalThis.process
    ?.eventNames()
    .reduce((sum, name) => sum + process.listenerCount(name as string), 0) ?? 0;
