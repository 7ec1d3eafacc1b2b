// What a conformance case works with.
import type { ContextEngine } from "../contract/engine.ts";
import type { CompactParams, CompactResult } from "../contract/lifecycle.ts";
import {
  provideRuntimeCompaction,
  type RuntimeCompaction,
  runtimeCompactionSlot,
} from "../delegate.ts";
import { CaseSession } from "./case-session.ts";
import type { CaseStorage } from "./case-storage.ts";
import { type CallWatch, watchCalls } from "./engine-call.ts";

/** What the kit gives the function that makes an engine. */
export interface EngineUnderTestContext {
  /** A fresh folder for this case; given again when the engine is made again after a "crash". */
  agentDir: string;
  /**
   * The built-in compaction `delegateCompactionToRuntime` reaches; only who wraps engines in
   * a host's guard needs it.
   */
  compaction: RuntimeCompaction;
}

/** Makes the engine under test; called again for every case, and after a "crash". */
export type EngineMaker = (
  context: EngineUnderTestContext,
) => ContextEngine | Promise<ContextEngine>;

/** How the kit's built-in compaction behaves. */
type CompactionMode = "works" | "hangs" | "absent";

export class CaseContext {
  /** The engine as first made. */
  engine!: ContextEngine;
  /** Calls that reached the built-in compaction. */
  readonly compactions: CompactParams[] = [];
  /** Of every engine that this case made. */
  readonly calls: CallWatch;
  readonly #storage: CaseStorage;
  readonly #create: EngineMaker;
  readonly #prefix: string;
  readonly #opened: ContextEngine[] = [];
  readonly #sessions = new Map<string, CaseSession>();
  #mode: CompactionMode = "works";

  /** `silent` = methods for which an earlier case waited in vain. */
  constructor(
    storage: CaseStorage,
    create: EngineMaker,
    prefix: string,
    silent: CallWatch["silent"] = new Set(),
  ) {
    this.calls = { waiting: new Set(), silent };
    this.#storage = storage;
    this.#create = create;
    this.#prefix = prefix;
  }

  /**
   * The engine made again over the same storage, as after a crash: the one before was not disposed.
   */
  async reopen(): Promise<ContextEngine> {
    const engine = await this.#create({
      agentDir: this.#storage.agentDir,
      compaction: this.#compact,
    });
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
      this.#sessions.get(name) ?? new CaseSession(this.#storage, `${this.#prefix}-${name}`);
    this.#sessions.set(name, known);
    return known;
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

  async close(): Promise<void> {
    // The dispose cases judge dispose; here it only frees what a case opened.
    await Promise.allSettled(this.#opened.map(async (engine) => engine.dispose?.()));
    await this.#storage.remove();
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
    const session = [...this.#sessions.values()].find(
      ({ ref }) => ref.sessionId === params.sessionId,
    );
    return (
      session?.compactTranscript() ?? { ok: true, compacted: false, reason: "unknown session" }
    );
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
