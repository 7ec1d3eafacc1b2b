// Makes of what a plugin offers in its own process what the host uses of any plugin.
import type {
  ContextEngine,
  EngineFactoryContext,
  PluginCommand,
  PluginTool,
} from "@clew/plugin-sdk/core";
import { runtimeCompactionSlot } from "@clew/plugin-sdk/host";
import { noRegistrations, type Registrations } from "../load/registrations.ts";
import { memoryOfRun } from "../memory/memory-run.ts";
import {
  type EngineAnswer,
  type IsolatedOffer,
  type ListedTools,
  type MadeEngine,
  NotRunning,
  type PluginProcess,
  type SaidInfo,
  type ToolRequest,
} from "./order.ts";
import type { Peer } from "./peer.ts";

/** `ready`: the process that runs now; throws `NotRunning`. */
export function registrationsOf(
  offer: IsolatedOffer,
  ready: () => Promise<PluginProcess>,
): Registrations {
  const call = async (verb: string, ...given: unknown[]) =>
    (await ready()).peer.call(verb, ...given);
  return {
    ...noRegistrations(),
    diagnostics: offer.diagnostics,
    engines: offer.engines.map((engineId) => ({
      engineId,
      factory: async (context) =>
        makeEngine((await ready().catch(asNobodysFailure)).peer, engineId, context),
    })),
    tools: offer.tools.map(({ names, tools }, place) => ({
      names,
      make: (context) =>
        madeFor(tools, context.agentId).map((tool) => {
          const execute: PluginTool["execute"] = (callId, params, signal) => {
            const asked = { place, name: tool.name, context, callId, params };
            const request: ToolRequest = { ...asked, ...(signal && { signal }) };
            return call("tool", request) as ReturnType<PluginTool["execute"]>;
          };
          return { ...(tool as unknown as PluginTool), execute };
        }),
    })),
    commands: offer.commands.map((command, place) => ({
      ...command,
      handler: ({ config: _known, runtimeContext: _live, ...context }) =>
        call("command", place, context) as ReturnType<PluginCommand["handler"]>,
    })),
  };
}

/** An agent that came later has what the default one has. */
const madeFor = (tools: ListedTools["tools"], agentId: string | undefined) =>
  (tools.find((listed) => listed.agentId === agentId) ?? tools[0])?.made ?? [];

/** An engine that nobody could make yet is asked for again in the next turn, and not set aside. */
function asNobodysFailure(error: unknown): never {
  if (error instanceof NotRunning) error.name = "AbortError";
  throw error;
}

/** An engine with the same functions; each call goes to the process that made it. */
async function makeEngine(
  peer: Peer,
  engineId: string,
  context: EngineFactoryContext | undefined,
): Promise<ContextEngine> {
  // Functions stay where they are: an engine of another process keeps what it has.
  const { sharedRows: _here, ...rest } = context ?? {};
  const made = (await peer.call("make", { engineId, context: context && rest })) as
    | MadeEngine
    | { product: unknown };
  if ("product" in made) return made.product as ContextEngine;
  let said = made.info;
  const engine = {
    get info() {
      return infoOf(said);
    },
  };
  for (const method of made.methods)
    Object.defineProperty(engine, method, {
      enumerable: true,
      async value(...given: unknown[]) {
        // Its process lets go of its engines when it is told to end.
        if (method === "dispose" && !peer.isOpen()) return undefined;
        const help = { compaction: runtimeCompactionSlot()?.getStore(), memory: memoryOfRun() };
        const request = { method, given, help };
        const answer = (await peer.call("engine", made.number, request)) as EngineAnswer;
        if (answer.info !== undefined) said = answer.info;
        return answer.value;
      },
    });
  return engine as unknown as ContextEngine;
}

function infoOf(said: SaidInfo): ContextEngine["info"] {
  if (!said.ok) throw new Error(said.reason);
  return said.info as ContextEngine["info"];
}
