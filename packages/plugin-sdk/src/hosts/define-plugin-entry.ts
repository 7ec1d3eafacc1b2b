// Makes a plugin's entry run in every host of the contract.
import type { ContextEngineFactory } from "../contract/engine.ts";
import type { PluginApi, PluginEntry } from "../contract/plugin.ts";
import { loadOpenClaw } from "../other-host.ts";
import { adaptEngine, noMemory, storesWithoutKey, turnTakingOf } from "./adapt-engine.ts";

/**
 * The entry for hosts. In Clew it registers as it says. In other hosts, such as OpenClaw, its
 * engines get what these ask and Clew does not: turns committed by key where an engine keeps
 * nothing of them, one budget, ids of messages, their own view recognised, and the host's
 * compaction and memory lines behind the SDK's functions. An engine that stores turns needs
 * `commitTurn` to be used there.
 * @example
 * ```ts
 * import {
 *   type ContextEngine,
 *   definePluginEntry,
 *   delegateCompactionToRuntime,
 * } from "@clew/plugin-sdk/core";
 *
 * const engine: ContextEngine = {
 *   info: { id: "whole", name: "Whole history" },
 *   ingest: () => ({ ingested: false }), // the host's transcript is the record
 *   assemble: ({ messages }) => ({ messages, estimatedTokens: 0 }),
 *   compact: delegateCompactionToRuntime,
 * };
 *
 * export default definePluginEntry({
 *   id: "whole",
 *   name: "Whole history",
 *   register: (api) => api.registerContextEngine("whole", () => engine),
 * });
 *
 * const { compacted, reason } = await engine.compact({ sessionId: "s", sessionFile: "s.jsonl" });
 * console.log(compacted, reason); // no host is running here
 * ```
 *
 * ```text
 * false this host offers no built-in compaction
 * ```
 */
export function definePluginEntry<Entry extends PluginEntry>(entry: Entry): Entry {
  return {
    ...entry,
    register: (api: PluginApi) => entry.register(isClew(api) ? api : apiForOthers(api)),
  };
}

const isClew = ({ runtime }: PluginApi): boolean => runtime?.clew !== undefined;

/** Hosts register a plugin several times, and make engines for each turn. */
const memory = noMemory();

/** Everything but the registration of engines is the host's own. */
function apiForOthers(api: PluginApi): PluginApi {
  const registerContextEngine: PluginApi["registerContextEngine"] = (id, factory) =>
    api.registerContextEngine(id, adapted(id, factory, api));
  return Object.create(api, {
    registerContextEngine: { value: registerContextEngine, enumerable: true },
  }) as PluginApi;
}

function adapted(id: string, factory: ContextEngineFactory, api: PluginApi): ContextEngineFactory {
  let isTold = false;
  return async (context) => {
    // What some ask for without being able to wait is at hand before the engine is.
    const [engine] = await Promise.all([factory(context), loadOpenClaw()]);
    if (turnTakingOf(engine) === "not-atomic" && !isTold) {
      isTold = true;
      api.logger?.warn(storesWithoutKey({ id, name: id }));
    }
    return adaptEngine(engine, memory);
  };
}
