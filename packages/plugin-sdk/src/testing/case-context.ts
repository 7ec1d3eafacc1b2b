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
  /** Sessions of each kind. Absent: 10. */
  count?: number;
  /** Another number makes other sessions. Absent: 1. */
  seed?: number;
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
  /** Begins the name of every session. */
  readonly prefix: string;
  readonly calls: CallWatch;
  /** What the engine left in this and earlier cases where nothing can catch it. */
  readonly strays: Strays;
  /** Absent: as many as is usual. */
  readonly sessions?: SessionOptions | undefined;
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
   */
  async beside(
    work: (context: CaseContext) => Promise<void>,
    { withoutFolder = false, storage }: { withoutFolder?: boolean; storage?: CaseStorage } = {},
  ): Promise<void> {
    const fresh = new CaseContext(storage ?? (await this.#parts.makeStorage()), this.#parts);
    try {
      await fresh.withCompaction(async () => {
        fresh.engine = await fresh.reopen(withoutFolder);
        await work(fresh);
      });
    } finally {
      await fresh.close();
    }
  }

  async close(): Promise<void> {
    // The dispose cases judge dispose; here it only frees what a case opened.
    const disposed = Promise.allSettled(this.#opened.map(async (engine) => engine.dispose?.()));
    await within({ boundMs: DISPOSE_MS, onTimeout: () => [] }, () => disposed);
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
