// Who registered which engine id, and the one live engine per id and agent.
import type {
  ContextEngine,
  ContextEngineFactory,
  EngineFactoryContext,
} from "@clew/plugin-sdk/core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { EngineMethod } from "@clew/plugin-sdk/host";
import type { ClockPort, LogPort } from "../ports.ts";
import { type EngineGuard, type FailurePolicy, guardEngine } from "./guard.ts";
import { createQuarantine, describeError, type Quarantine } from "./quarantine.ts";
import { validateEngine } from "./validate.ts";

/** The id of the built-in engine; only the owner "core" may register it. */
export const FALLBACK_ENGINE_ID = "legacy";
const CORE_OWNER = "core";

/** An engine that may be selected. */
export interface EngineRegistration {
  /** What the slot names it by. */
  engineId: string;
  /** "core", or "plugin:<pluginId>". */
  owner: string;
  /** Makes the engine for one agent. */
  factory: ContextEngineFactory;
  /** "readOnlyDiscovery": listed, never run. */
  lifecycle: "runtime" | "readOnlyDiscovery";
}

/** Refused when the id belongs to another owner. */
export type RegistrationResult = { ok: true } | { ok: false; existingOwner: string };

/** One process's engines: registered, made, set aside, let go. */
export interface EngineRegistry {
  /** Which of them are set aside. */
  readonly quarantine: Quarantine;
  /**
   * Registers `factory` under `engineId` (contract §2.1). The same owner may refresh when it says
   * so; a read-only discovery never replaces a runtime registration. A runtime registration clears
   * the id's quarantine and drops its live engines. Throws on a blank owner.
   */
  register(registration: {
    engineId: string;
    factory: ContextEngineFactory;
    owner: string;
    lifecycle?: EngineRegistration["lifecycle"];
    allowSameOwnerRefresh?: boolean;
  }): RegistrationResult;
  /** Removes every engine of `owner` and disposes their live instances. */
  unregisterOwner(owner: string): Promise<void>;
  /** Undefined: nobody registered it. */
  get(engineId: string): EngineRegistration | undefined;
  /** The fallback first. */
  list(): readonly EngineRegistration[];
  /**
   * The live engine for (id, agentDir, workspaceDir), made on first use. Throws
   * ENGINE_FACTORY_FAILED or ENGINE_CONTRACT_INVALID.
   */
  instance(engineId: string, context: EngineFactoryContext): Promise<EngineGuard>;
  /** Disposes every live engine; they are made again when next needed. */
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
  bounds?: (engineId: string) => Partial<Record<EngineMethod | "dispose", number>>;
}

/** State of one host's engines; two registries in one process share nothing. */
export function createEngineRegistry(options: RegistryOptions): EngineRegistry {
  const { log, clock } = options;
  const registrations = new Map<string, EngineRegistration>();
  const instances = new Map<string, Map<string, Promise<EngineGuard>>>();
  const quarantine = createQuarantine({ log, clock, fallbackId: FALLBACK_ENGINE_ID });
  registrations.set(FALLBACK_ENGINE_ID, {
    engineId: FALLBACK_ENGINE_ID,
    owner: CORE_OWNER,
    factory: options.fallback,
    lifecycle: "runtime",
  });

  async function fallbackEngine(context: EngineFactoryContext): Promise<ContextEngine> {
    return (await instance(FALLBACK_ENGINE_ID, context)).enter({});
  }

  async function make(
    registration: EngineRegistration,
    context: EngineFactoryContext,
  ): Promise<EngineGuard> {
    const { engineId, owner } = registration;
    const product = await registration.factory(context);
    const validation = validateEngine(engineId, product);
    if (!validation.ok) {
      await disposeQuietly(product);
      throw new ContextEngineError("ENGINE_CONTRACT_INVALID", validation.message, {
        engineId,
        operation: "contract-validation",
      });
    }
    return guardEngine({
      engineId,
      owner,
      engine: validation.engine,
      fallback: () => fallbackEngine(context),
      ...(engineId !== FALLBACK_ENGINE_ID && { quarantine }),
      policy: options.failurePolicy?.(engineId) ?? "quarantine",
      bounds: options.bounds?.(engineId) ?? {},
      log,
      clock,
    });
  }

  function instance(engineId: string, context: EngineFactoryContext): Promise<EngineGuard> {
    const registration = registrations.get(engineId);
    if (registration === undefined)
      return Promise.reject(notRegistered(engineId, registrations.keys()));
    const perEngine = instances.get(engineId) ?? new Map<string, Promise<EngineGuard>>();
    instances.set(engineId, perEngine);
    const key = `${context.agentDir ?? ""}\0${context.workspaceDir ?? ""}`;
    const existing = perEngine.get(key);
    if (existing !== undefined) return existing;
    const made = make(registration, context).catch((error: unknown) => {
      perEngine.delete(key);
      throw ContextEngineError.is(error) ? error : factoryFailed(engineId, error);
    });
    perEngine.set(key, made);
    return made;
  }

  async function disposeInstances(engineIds: readonly string[]): Promise<void> {
    const live = engineIds.flatMap((engineId) => [...(instances.get(engineId)?.values() ?? [])]);
    for (const engineId of engineIds) instances.delete(engineId);
    await Promise.all(
      live.map(async (made) => {
        const guard = await made.catch(() => undefined);
        await guard?.dispose();
      }),
    );
  }

  return {
    quarantine,
    get: (engineId) => registrations.get(engineId),
    list: () => [...registrations.values()],
    instance,
    register({
      engineId: rawId,
      factory,
      owner: rawOwner,
      lifecycle = "runtime",
      allowSameOwnerRefresh = false,
    }) {
      const engineId = rawId.trim();
      const owner = rawOwner.trim();
      if (owner === "")
        throw new Error(
          `Context engine "${engineId}" was registered without an owner; pass "plugin:<pluginId>".`,
        );
      if (engineId === FALLBACK_ENGINE_ID && owner !== CORE_OWNER)
        return { ok: false, existingOwner: CORE_OWNER };
      const existing = registrations.get(engineId);
      if (existing !== undefined && existing.owner !== owner)
        return { ok: false, existingOwner: existing.owner };
      if (existing?.lifecycle === "runtime" && lifecycle === "readOnlyDiscovery")
        return { ok: true };
      if (existing !== undefined && !allowSameOwnerRefresh)
        return { ok: false, existingOwner: existing.owner };
      registrations.set(engineId, { engineId, owner, factory, lifecycle });
      if (lifecycle === "runtime") {
        quarantine.clear(engineId);
        void disposeInstances([engineId]);
      }
      return { ok: true };
    },
    async unregisterOwner(owner) {
      const owned = [...registrations.values()].filter(
        (registration) => registration.owner === owner && owner !== CORE_OWNER,
      );
      for (const { engineId } of owned) registrations.delete(engineId);
      await disposeInstances(owned.map(({ engineId }) => engineId));
    },
    dispose: () => disposeInstances([...instances.keys()]),
  };
}

/** The error for an id nobody registered; lists what there is. */
function notRegistered(engineId: string, known: Iterable<string>): ContextEngineError {
  const message = `Context engine "${engineId}" is not registered. Available engines: ${[...known].join(", ") || "(none)"}.`;
  return new ContextEngineError("ENGINE_NOT_FOUND", message, { engineId, operation: "resolve" });
}

function factoryFailed(engineId: string, cause: unknown): ContextEngineError {
  const message = `Context engine "${engineId}" could not be created: ${describeError(cause)}.`;
  return new ContextEngineError("ENGINE_FACTORY_FAILED", message, {
    engineId,
    operation: "factory",
    cause,
  });
}

async function disposeQuietly(product: unknown): Promise<void> {
  try {
    await (product as { dispose?: () => unknown } | null)?.dispose?.();
  } catch {
    // A half-built engine may not know how to end; there is nothing left to save.
  }
}
