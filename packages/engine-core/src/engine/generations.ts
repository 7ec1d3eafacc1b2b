// Keeps the live engines of each registration until it is replaced and they are out of use.
import type { EngineFactoryContext } from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import type { EngineGuard } from "./call-scope.ts";
import { createLeases, type Leases } from "./leases.ts";
import type { EngineRegistration } from "./registration.ts";

/** One registration and the engines made by it; registering again begins the next. */
export interface Generation {
  readonly registration: EngineRegistration;
  /** False once it was replaced or removed: its failures are nobody else's. */
  isCurrent: boolean;
  readonly live: Map<string, LiveEngine>;
}

interface LiveEngine {
  readonly made: Promise<EngineGuard>;
  readonly leases: Leases;
  /** Set when it was made. */
  guard: EngineGuard | undefined;
  /** The latest disposal. */
  disposal: Promise<void> | undefined;
}

/** The engines of one host, by generation. */
export interface Generations {
  begin(registration: EngineRegistration): Generation;
  /** The engine for one agent and workspace, made on first use; a failure is not kept. */
  engine(generation: Generation, context: EngineFactoryContext): Promise<EngineGuard>;
  /**
   * No new turn gets engines of this generation. Those in use are disposed when their last user is
   * done; settles when the others are.
   */
  retire(generation: Generation): Promise<void>;
  /** Disposes all engines, replaced ones too; waits for users, but not past the bound. */
  disposeAll(): Promise<void>;
}

export function createGenerations({
  make,
  disposeBoundMs,
}: {
  make: (
    generation: Generation,
    context: EngineFactoryContext,
    leases: Leases,
  ) => Promise<EngineGuard>;
  disposeBoundMs: (engineId: string) => number;
}): Generations {
  /** All that may have to be disposed, and by what they were made. */
  const all = new Map<LiveEngine, Generation>();

  function start(generation: Generation, context: EngineFactoryContext): LiveEngine {
    const leases = createLeases();
    const made = make(generation, context, leases);
    const engine: LiveEngine = { made, leases, guard: undefined, disposal: undefined };
    made.then(
      (guard) => {
        engine.guard = guard;
      },
      () => {
        all.delete(engine);
        for (const [key, live] of generation.live) if (live === engine) generation.live.delete(key);
      },
    );
    all.set(engine, generation);
    return engine;
  }

  function dispose(engine: LiveEngine): Promise<void> {
    all.delete(engine);
    engine.disposal = engine.made.then(
      (guard) => guard.dispose(),
      () => {},
    );
    return engine.disposal;
  }

  return {
    begin: (registration) => ({ registration, isCurrent: true, live: new Map() }),
    engine(generation, context) {
      const key = `${context.agentDir ?? ""}\0${context.workspaceDir ?? ""}`;
      const engine = generation.live.get(key) ?? start(generation, context);
      generation.live.set(key, engine);
      engine.leases.promise();
      return engine.made;
    },
    async retire(generation) {
      generation.isCurrent = false;
      const engines = [...generation.live.values()];
      generation.live.clear();
      for (const engine of engines) engine.leases.whenUnused(() => void dispose(engine));
      await Promise.all(
        engines.map((engine) => (engine.guard === undefined ? undefined : engine.disposal)),
      );
    },
    async disposeAll() {
      const engines = [...all];
      for (const [, generation] of engines) generation.live.clear();
      await Promise.all(
        engines.map(async ([engine, { registration }]) => {
          // One that is still being made is disposed when it comes.
          if (engine.guard === undefined) return void dispose(engine);
          const boundMs = disposeBoundMs(registration.engineId);
          await within({ boundMs, onTimeout: () => {} }, () => engine.leases.allReturned());
          if (all.has(engine)) await dispose(engine);
          else await engine.disposal;
        }),
      );
    },
  };
}
