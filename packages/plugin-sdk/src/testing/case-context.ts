// What a conformance case works with.
import { within } from "../abort.ts";
import type { ContextEngine } from "../contract/engine.ts";
import type { CompactParams, CompactResult } from "../contract/lifecycle.ts";
import {
  provideRuntimeCompaction,
  type RuntimeCompaction,
  runtimeCompactionSlot,
} from "../delegate.ts";
import { CaseSession } from "./case-session.ts";
import type { CaseStorage } from "./case-storage.ts";
import { type CallWatch, CaseFailure, describe, tooLate, watchCalls } from "./engine-call.ts";
import { keepingAlive, moreThan, openFilesIn, stillLeft } from "./held.ts";
import { patiently } from "./patience.ts";
import type { Strays } from "./strays.ts";

/** What the kit gives the function that makes an engine. */
export interface EngineUnderTestContext {
  /** A fresh folder for this case; given again when the engine is made again after a "crash". */
  agentDir: string;
  /**
   * The built-in compaction `delegateCompactionToRuntime` reaches; only who wraps engines in
   * a host's guard needs it.
   */
  compaction: RuntimeCompaction;
  /** True: it is to be made as by a host that has no folder for it. Absent: it has one. */
  withoutFolder?: boolean;
}

/** Makes the engine under test; called again for every case, and after a "crash". */
export type EngineMaker = (
  context: EngineUnderTestContext,
) => ContextEngine | Promise<ContextEngine>;

/** How random sessions are made. */
export interface SessionOptions {
  /** Sessions of each kind. Absent: 12. */
  count?: number;
  /** Another number makes other sessions. Absent: 1. */
  seed?: number;
  /**
   * What their names and the words in them are drawn from, beside the seed; a failure tells it.
   * Absent: another one each time, so that no engine can know them.
   */
  salt?: string;
}

/** Where the words come from that a run of sessions is known by. */
export interface Salt {
  /** Of one check of one engine, so that one with one store for all cannot know them. */
  base: string;
  /** Which run of sessions in it. */
  run: number;
}

/** A session that the built-in compaction can make smaller. */
export interface Compactable {
  readonly sessionId: string;
  compact(): CompactResult;
}

/** How the kit's built-in compaction behaves. */
type CompactionMode = "works" | "hangs" | "absent";

/** What all contexts of a case are made of. */
export interface ContextParts {
  readonly makeStorage: () => Promise<CaseStorage>;
  readonly create: EngineMaker;
  /** What names and words of random sessions are drawn from; counted up by each run. */
  readonly salt: Salt;
  /** Begins the name of every session. */
  readonly prefix: string;
  readonly calls: CallWatch;
  /** What the engine left in this and earlier cases where nothing can catch it. */
  readonly strays: Strays;
  /** Absent: as many as is usual. */
  readonly sessions?: SessionOptions | undefined;
  /** Whether nothing but the engine runs in this process. Absent: something else may. */
  readonly ownsProcess?: boolean | undefined;
}

/** What a case that is over is waited for, ms. */
const DISPOSE_MS = 2_000;

export class CaseContext {
  /** The engine as first made. */
  engine!: ContextEngine;
  /** Calls that reached the built-in compaction. */
  readonly compactions: CompactParams[] = [];
  /** Of every engine that this case made. */
  readonly calls: CallWatch;
  /** See `ContextParts`. */
  readonly strays: Strays;
  readonly storage: CaseStorage;
  /** How random sessions are made. */
  readonly sessions: SessionOptions;
  readonly #parts: ContextParts;
  readonly #opened: ContextEngine[] = [];
  readonly #sessions = new Map<string, CaseSession>();
  readonly #compactable = new Set<Compactable>();
  #mode: CompactionMode = "works";

  constructor(storage: CaseStorage, parts: ContextParts) {
    this.storage = storage;
    this.sessions = parts.sessions ?? {};
    this.calls = parts.calls;
    this.strays = parts.strays;
    this.#parts = parts;
  }

  /**
   * The engine made again over the same storage, as after a crash: the one before was not disposed.
   */
  async reopen(withoutFolder = false): Promise<ContextEngine> {
    const { boundMs } = this.calls;
    const { agentDir } = this.storage;
    const given = {
      ...{ agentDir, compaction: this.#compact },
      ...(withoutFolder && { withoutFolder }),
    };
    let engine: ContextEngine;
    try {
      engine = await patiently(
        boundMs,
        () => tooLate("The function that makes it", boundMs),
        () => this.#parts.create(given),
      );
    } catch (error) {
      throw new CaseFailure(`The engine could not be made: ${describe(error)}`);
    }
    this.#opened.push(engine);
    if (typeof engine === "object" && engine !== null) watchCalls(engine, this.calls);
    return engine;
  }

  /**
   * The session of that name; unique to this case and run, so that engines with one store
   * for all cannot mix cases.
   */
  session(name = "main"): CaseSession {
    const known =
      this.#sessions.get(name) ?? new CaseSession(this.storage, `${this.#parts.prefix}-${name}`);
    this.#sessions.set(name, known);
    return known;
  }

  /** The built-in compaction reaches it from here on. */
  offerToCompact(session: Compactable): void {
    this.#compactable.add(session);
  }

  /** For a run of sessions that no other has the names of. */
  nextSalt(): Salt {
    const { salt } = this.#parts;
    return { base: salt.base, run: salt.run++ };
  }

  /** From here on the built-in compaction answers only to an abort. */
  hangCompaction(): void {
    this.#mode = "hangs";
  }

  /** Runs `work` on a host without built-in compaction. */
  async withoutCompaction<T>(work: () => Promise<T>): Promise<T> {
    this.#mode = "absent";
    return (await slot()).run(undefined, work);
  }

  /** Runs `work` with the built-in compaction in the host's slot. */
  async withCompaction<T>(work: () => Promise<T>): Promise<T> {
    return (await slot()).run(this.#compact, work);
  }

  /**
   * Runs `work` with the engine made anew over a fresh folder, or over `storage`, which is removed.
   * `letsGo`: what it holds open after its dispose is a failure.
   */
  async beside(
    work: (context: CaseContext) => Promise<void>,
    {
      withoutFolder = false,
      letsGo = false,
      storage,
    }: { withoutFolder?: boolean; letsGo?: boolean; storage?: CaseStorage } = {},
  ): Promise<void> {
    const fresh = new CaseContext(storage ?? (await this.#parts.makeStorage()), this.#parts);
    const before = letsGo && this.#parts.ownsProcess ? keepingAlive() : undefined;
    try {
      await fresh.withCompaction(async () => {
        fresh.engine = await fresh.reopen(withoutFolder);
        await work(fresh);
      });
      if (!letsGo) return;
      await fresh.disposeAll();
      const held = await fresh.#heldAfter(before);
      if (held !== undefined) throw new CaseFailure(held);
    } finally {
      await fresh.close();
    }
  }

  /** What the engines of this case still hold, all of which were disposed of. */
  async #heldAfter(before: ReadonlyMap<string, number> | undefined): Promise<string | undefined> {
    const isDisposed = this.#opened.every((engine) => typeof engine?.dispose === "function");
    const when = isDisposed ? "after dispose()" : "in the end, and has no dispose()";
    const file = await stillLeft(async () =>
      isDisposed ? (await openFilesIn(this.storage.agentDir))[0] : undefined,
    );
    if (file !== undefined) return `It holds the file ${file} of its folder open ${when}`;
    const kind = before && (await stillLeft(() => moreThan(before)));
    return kind && `It keeps the process from ending ${when}, by a ${kind}`;
  }

  /** Of every engine that this case made. */
  async disposeAll(): Promise<void> {
    const disposed = Promise.allSettled(this.#opened.map(async (engine) => engine.dispose?.()));
    await within({ boundMs: DISPOSE_MS, onTimeout: () => [] }, () => disposed);
  }

  async close(): Promise<void> {
    // The dispose cases judge dispose; here it only frees what a case opened.
    await this.disposeAll();
    await this.storage.remove().catch(() => {});
  }

  readonly #compact = async (params: CompactParams): Promise<CompactResult> => {
    if (this.#mode === "absent")
      return { ok: false, compacted: false, reason: "this host offers no built-in compaction" };
    this.compactions.push(params);
    params.abortSignal?.throwIfAborted();
    if (this.#mode === "hangs")
      return new Promise((_, reject) =>
        params.abortSignal?.addEventListener("abort", () => reject(params.abortSignal?.reason), {
          once: true,
        }),
      );
    const { sessionId } = params;
    const session = [...this.#sessions.values()].find(({ ref }) => ref.sessionId === sessionId);
    if (session !== undefined) return session.compactTranscript();
    const other = [...this.#compactable].find((one) => one.sessionId === sessionId);
    return other?.compact() ?? { ok: true, compacted: false, reason: "unknown session" };
  };
}

interface Slot {
  getStore(): RuntimeCompaction | undefined;
  run<T>(store: RuntimeCompaction | undefined, work: () => T): T;
}

/** The process's slot; one is installed when no host has. */
async function slot(): Promise<Slot> {
  const installed = runtimeCompactionSlot() as Partial<Slot> | undefined;
  if (typeof installed?.run === "function") return installed as Slot;
  const { AsyncLocalStorage } = await import("node:async_hooks");
  const created = new AsyncLocalStorage<RuntimeCompaction | undefined>();
  provideRuntimeCompaction(created);
  return created;
}
