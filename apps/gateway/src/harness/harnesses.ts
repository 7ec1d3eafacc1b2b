// Finds the program that runs an agent's turns, and loads it when it is first needed.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { HostSession } from "@clew/engine-core";
import { cliBackends, EMBEDDED_HARNESS, type HarnessConfig } from "../config/harness.ts";
import type { Harness, HarnessOptions } from "./harness.ts";
import { createRelay } from "./relay.ts";

export interface Harnesses {
  /** Null: the gateway itself; undefined: nothing is called that. */
  find(id: string): Promise<Harness | null | undefined>;
  /** What a session is was changed, whichever program ran its turns. */
  letGo(session: Pick<HostSession, "agentId" | "sessionKey">, why: string): Promise<void>;
  /** A session is gone, whichever program ran its turns. */
  forget(session: Pick<HostSession, "agentId" | "sessionKey">): Promise<void>;
  /** Names that settings may use. */
  ids(): string[];
  /** Ends every process that was begun. */
  close(): Promise<void>;
}

/** How a program is made from the settings; its code is not loaded before. */
export type HarnessLoader = (options: HarnessOptions) => Promise<Harness>;

export function createHarnesses(
  loaders: Readonly<Record<string, HarnessLoader>>,
  given: Omit<HarnessOptions, "relay">,
): Harnesses {
  const relay = createRelay();
  const options: HarnessOptions = { ...given, relay };
  const made = new Map<string, Promise<Harness>>();
  const find = async (id: string) => {
    if (id === EMBEDDED_HARNESS) return null;
    const loader = Object.hasOwn(loaders, id) ? loaders[id] : undefined;
    if (loader === undefined) return undefined;
    const known = made.get(id) ?? loader(options);
    made.set(id, known);
    return known;
  };
  /** None, where no program ever ran a turn of the agent. */
  const programsOf = async (agentId: string): Promise<Harness[]> => {
    if (!existsSync(join(options.home, "agents", agentId, "harness"))) return [];
    const programs = await Promise.all(Object.keys(loaders).map((id) => find(id)));
    return programs.filter((program) => program != null);
  };
  return {
    find,
    async letGo(session, why) {
      for (const program of await programsOf(session.agentId)) await program.letGo(session, why);
    },
    async forget(session) {
      for (const program of await programsOf(session.agentId)) await program.forget(session);
    },
    ids: () => [EMBEDDED_HARNESS, ...Object.keys(loaders)],
    async close() {
      const all = await Promise.allSettled(made.values());
      made.clear();
      await Promise.allSettled(
        all.map((each) => (each.status === "fulfilled" ? each.value.close() : undefined)),
      );
      await relay.close();
    },
  };
}

/** The programs that these settings know, by name. */
export function harnessLoaders(config: HarnessConfig): Record<string, HarnessLoader> {
  const { codex } = config;
  const started = cliBackends(config).map(({ id, kind, config: own }): [string, HarnessLoader] => [
    id,
    async (options) => {
      const { createCli } = await import("./cli/cli.ts");
      return createCli({ ...options, id, kind, config: own });
    },
  ]);
  return {
    codex: async (options) => {
      const { createCodex } = await import("./codex/codex.ts");
      return createCodex({ ...options, config: codex });
    },
    ...Object.fromEntries(started),
  };
}
