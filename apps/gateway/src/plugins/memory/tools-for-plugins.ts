// Makes the tools of the chosen memory for plugins that offer them as their own.
import type { HostSession } from "@clew/engine-core";
import type { MemoryToolOptions, PluginRuntime, PluginTool } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { DEFAULT_AGENT_ID, parseSessionName } from "../../sessions/keys.ts";
import { schemaOf, type Tool, ToolRefusal } from "../../tools/tool.ts";
import { currentPluginScope } from "../load/scope.ts";
import { MEMORY_TOOLS } from "./memory-tools.ts";

type MemoryToolMaker = NonNullable<PluginRuntime["tools"]>;

/** `tools`: an agent's, of the memory that is chosen by then; none while plugins load. */
export function memoryToolsForPlugins(
  tools: (agentId: string) => readonly Tool[],
): MemoryToolMaker {
  const make = (name: string, options: unknown): PluginTool | null => {
    const session = sessionOf(options);
    const tool = tools(session.agentId).find((each) => each.name === name);
    return tool === undefined ? null : asPluginTool(tool, session);
  };
  return {
    createMemorySearchTool: (options) => make(MEMORY_TOOLS.search, options),
    createMemoryGetTool: (options) => make(MEMORY_TOOLS.get, options),
  };
}

/** As the plugin says, else the one that it is asked for. */
function sessionOf(options: unknown): HostSession {
  const { agentId, agentSessionKey }: MemoryToolOptions = isRecord(options) ? options : {};
  const scope = currentPluginScope();
  const sessionKey = agentSessionKey ?? scope?.sessionKey ?? "";
  const named = agentId ?? parseSessionName(sessionKey)?.agentId;
  return {
    agentId: named ?? scope?.agentId ?? DEFAULT_AGENT_ID,
    ...{ sessionKey, sessionId: scope?.sessionId ?? "" },
  };
}

const NEVER = new AbortController().signal;

function asPluginTool({ name, description, parameters, run }: Tool, session: HostSession) {
  return {
    ...{ name, label: name, description, parameters: schemaOf(parameters) },
    annotations: { readOnlyHint: true },
    async execute(callId: string, given: unknown, signal: AbortSignal = NEVER) {
      const checked = parameters.safeParse(withOurNames(given));
      if (!checked.success) throw new Error(`The arguments of ${name} are wrong.`);
      return run(checked.data, { session, signal, callId, prepared: undefined }).then(
        resultOf,
        (error: unknown) => {
          if (error instanceof ToolRefusal) return { ...resultOf(error.message), isError: true };
          throw error;
        },
      );
    },
  } satisfies PluginTool & { annotations: object };
}

const resultOf = (text: string) => ({ content: [{ type: "text" as const, text }] });

/** The other host calls it so. */
const withOurNames = (given: unknown): unknown =>
  isRecord(given) && given.maxResults !== undefined
    ? { max_results: given.maxResults, ...given }
    : given;
