// One host's engines, from registration to the guard that a turn gets.
import {
  ContextEngineError,
  type ContextEngineFactory,
  type EngineFactoryContext,
} from "@clew/plugin-sdk/core";
import type { ClockPort, LogPort } from "../ports.ts";
import { type Bounds, DEFAULT_BOUNDS_MS } from "./bounds.ts";
import type { CallAs, EngineGuard, FailurePolicy } from "./call-scope.ts";
import { quarantineOf } from "./generation-quarantine.ts";
import { createGenerations, type Generation } from "./generations.ts";
import { guardEngine } from "./guard.ts";
import type { Leases } from "./leases.ts";
import { makeEngine } from "./make-engine.ts";
import { createQuarantine, type Quarantine, type QuarantineRecord } from "./quarantine.ts";
import {
  CORE_OWNER,
  type EngineRegistration,
  FALLBACK_ENGINE_ID,
  planRegistration,
  type RegistrationResult,
} from "./registration.ts";

export { type EngineRegistration, FALLBACK_ENGINE_ID, type RegistrationResult };

/** One process's engines: registered, made, set aside, let go. */
export interface EngineRegistry {
  /** Which of them are set aside. */
  readonly quarantine: Quarantine;
  /** Where it tells what happens. */
  readonly log: LogPort;
  /**
   * Registers `factory` under `engineId` (contract §2.1). The same owner may refresh when it says
   * so; a read-only discovery never replaces a runtime registration. A runtime registration clears
   * the id's quarantine and begins a generation: new turns get new engines, running ones keep
   * theirs, which are disposed when the last is done. Throws on a blank owner.
   */
  register(registration: {
    engineId: string;
    factory: ContextEngineFactory;
    owner: string;
    lifecycle?: EngineRegistration["lifecycle"];
    allowSameOwnerRefresh?: boolean;
  }): RegistrationResult;
  /**
   * Removes every engine of `owner`. Live instances are disposed, those in use when their last user
   * is done; settles when the others are.
   */
  unregisterOwner(owner: string): Promise<void>;
  /** Undefined: nobody registered it. */
  get(engineId: string): EngineRegistration | undefined;
  /** The fallback first. */
  list(): readonly EngineRegistration[];
  /**
   * The live engine for (id, agentDir, workspaceDir), made on first use. Throws
   * ENGINE_FACTORY_FAILED, ENGINE_TIMEOUT or ENGINE_CONTRACT_INVALID.
   */
  instance(engineId: string, context: EngineFactoryContext): Promise<EngineGuard>;
  /**
   * Disposes every live engine; they are made again when next needed. Waits for users of an engine
   * no longer than its dispose may take.
   */
  dispose(): Promise<void>;
}

/** What a registry needs of its host. */
export interface RegistryOptions {
  /**
   * Makes the built-in engine: what answers when nothing is configured or the configured one fails.
   */
  fallback: ContextEngineFactory;
  /** Where failures of engines are told. */
  log: LogPort;
  /** Dates failures and measures calls. */
  clock: ClockPort;
  /** What a failure of this engine means. Absent: "quarantine" for all. */
  failurePolicy?: (engineId: string) => FailurePolicy;
  /** Milliseconds per method, replacing the defaults. Absent: DEFAULT_BOUNDS_MS. */
  bounds?: (engineId: string) => Partial<Bounds>;
  /** Told at the moment an engine is set aside. Absent: nobody is; the log says it. */
  onSetAside?: (record: QuarantineRecord) => void;
  /**
   * Runs each call of an engine's code, its factory and dispose included, and returns what `call`
   * returns; a host that must know whose code is running enters an async context here. Absent:
   * `call` is run as it is.
   */
  callAs?: CallAs;
}

/** State of one host's engines; two registries in one process share nothing. */
export function createEngineRegistry(options: RegistryOptions): EngineRegistry {
  const { log, clock, onSetAside, callAs = (_owner, call) => call() } = options;
  const current = new Map<string, Generation>();
  const quarantine = createQuarantine({ log, clock, fallbackId: FALLBACK_ENGINE_ID, onSetAside });
  const boundsOf = (engineId: string): Bounds => ({
    ...DEFAULT_BOUNDS_MS,
    ...options.bounds?.(engineId),
  });
  const generations = createGenerations({
    make,
    disposeBoundMs: (engineId) => boundsOf(engineId).dispose,
  });
  begin({
    engineId: FALLBACK_ENGINE_ID,
    owner: CORE_OWNER,
    factory: options.fallback,
    lifecycle: "runtime",
  });

  function begin(registration: EngineRegistration): void {
    const { engineId, lifecycle } = registration;
    const replaced = current.get(engineId);
    current.set(engineId, generations.begin(registration));
    if (lifecycle === "runtime") quarantine.clear(engineId);
    if (replaced !== undefined) void generations.retire(replaced);
  }

  async function make(
    generation: Generation,
    context: EngineFactoryContext,
    leases: Leases,
  ): Promise<EngineGuard> {
    const { engineId, owner } = generation.registration;
    const bounds = boundsOf(engineId);
    const isFallback = engineId === FALLBACK_ENGINE_ID;
    const fallback = () => instance(FALLBACK_ENGINE_ID, context);
    const run = <Result>(call: () => Result) => callAs(owner, call);
    // Made beforehand, so that what it says of itself is known when it has to answer.
    const [made, prepared] = await Promise.all([
      run(() => makeEngine(generation.registration, context, { bounds, log })),
      isFallback ? undefined : fallback().catch(() => undefined),
    ]);
    return guardEngine({
      ...{ engineId, owner, bounds, log, clock, leases, fallback, onSetAside, run },
      engine: made.engine,
      info: made.info,
      fallbackInfo: () => prepared?.info(),
      ...(!isFallback && { quarantine: quarantineOf(generation, { quarantine, log, clock }) }),
      policy: options.failurePolicy?.(engineId) ?? "quarantine",
    });
  }

  function instance(engineId: string, context: EngineFactoryContext): Promise<EngineGuard> {
    const generation = current.get(engineId);
    return generation === undefined
      ? Promise.reject(notRegistered(engineId, current.keys()))
      : generations.engine(generation, context);
  }

  return {
    ...{ quarantine, log, instance },
    get: (engineId) => current.get(engineId)?.registration,
    list: () => [...current.values()].map(({ registration }) => registration),
    register({ factory, lifecycle = "runtime", allowSameOwnerRefresh = false, ...named }) {
      const engineId = named.engineId.trim();
      const owner = named.owner.trim();
      if (owner === "")
        throw new Error(
          `Context engine "${engineId}" was registered without an owner; pass "plugin:<pluginId>".`,
        );
      const incoming = { engineId, owner, factory, lifecycle };
      const existing = current.get(engineId)?.registration;
      const plan = planRegistration(incoming, existing, { allowSameOwnerRefresh });
      if (plan.kind === "refuse") return { ok: false, existingOwner: plan.existingOwner };
      if (plan.kind === "set") begin(incoming);
      return { ok: true };
    },
    async unregisterOwner(owner) {
      const owned = [...current.values()].filter(
        ({ registration }) => registration.owner === owner && owner !== CORE_OWNER,
      );
      for (const { registration } of owned) current.delete(registration.engineId);
      await Promise.all(owned.map(generations.retire));
    },
    dispose: () => generations.disposeAll(),
  };
}

/** The error for an id nobody registered; lists what there is. */
function notRegistered(engineId: string, known: Iterable<string>): ContextEngineError {
  const message = `Context engine "${engineId}" is not registered. Available engines: ${[...known].join(", ") || "(none)"}.`;
  return new ContextEngineError("ENGINE_NOT_FOUND", message, { engineId, operation: "resolve" });
}
