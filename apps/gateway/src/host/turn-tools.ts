// Which tools a turn has, of whom, and what they may do.
import type { HostSession, ToolPort } from "@clew/engine-core";
import type { LimitsConfig } from "../config/limits.ts";
import { limitToolCalls } from "../limits/tool-calls.ts";
import { limitToolResults } from "../limits/tool-results.ts";
import { createMcpPort, type McpPort } from "../mcp/client/mcp-port.ts";
import type { PluginsInUse } from "../plugins/live-generation.ts";
import { engineRecalls } from "../plugins/offer/engine-recall.ts";
import type { OwnedTool } from "../plugins/offer/tools.ts";
import type { TurnHooks } from "../plugins/offer/turn-hooks.ts";
import type { Skill } from "../plugins/skills/find-skills.ts";
import { skillTools } from "../plugins/skills/skill-tool.ts";
import { type SessionToolsRequest, withSessionTools } from "../recall/session-tools.ts";
import { onlyReads } from "../tools/editor-client.ts";
import { type Approve, noSuchTool } from "../tools/tool.ts";
import type { Replacement, TurnSetup } from "./host.ts";
import type { HostParts } from "./parts.ts";
import { withEngineTools } from "./played-tools.ts";
import { withClientTools } from "./turn-client.ts";
import { isWithoutOurTools } from "./turn-harness.ts";
import { memoryToolsOf } from "./turn-memory.ts";

/** What a turn is offered. */
export interface ToolsOfTurn {
  /** All of them. */
  tools: ToolPort;
  /** The same without those of whoever asks. */
  ownTools: ToolPort;
  /** Servers that bring some of them; undefined = none do. */
  mcp: McpPort | undefined;
  skills: readonly Skill[];
}

export async function toolsOfTurn(
  parts: HostParts,
  setup: TurnSetup,
  about: {
    /** Of the engine. */
    owner: string;
    plugins: PluginsInUse | undefined;
    hooks: TurnHooks | undefined;
    /** Of the model that answers, tokens. */
    contextWindow: number;
    branch: SessionToolsRequest["branch"];
  },
): Promise<ToolsOfTurn> {
  const { pluginTools, loaded } = parts;
  const { limits } = loaded.config.gateway;
  const { replacement, client } = setup;
  const { session } = setup.transcript;
  const { owner, plugins, hooks } = about;
  const approve = approveIn(parts, setup);
  const ofPlugins = plugins?.toolsBeside(owner) ?? [];
  const skills = plugins?.skillsBeside(owner) ?? [];
  const added = await toolsAdded(parts, session, { plugins, ofPlugins, skills });
  const own = client?.ownTools ?? "all";
  const isToolless =
    own === "none" ||
    parts.sessionSettings?.(session.sessionKey)?.isToolless === true ||
    (await isWithoutOurTools(parts, setup));
  const sources =
    isToolless || own !== "all" || replacement !== undefined ? [] : (parts.mcp?.(session) ?? []);
  const hostTools = parts.tools(approve, added);
  const mcp =
    sources.length === 0 ? undefined : createMcpPort({ base: hostTools, sources, approve });
  const live = limitTools(
    pluginTools({ base: mcp ?? hostTools, tools: ofPlugins, approve }),
    limits,
  );
  const base = replacement === undefined ? live : playedTools(replacement, live, plugins);
  const recalls = engineRecalls({ owner, tools: ofPlugins, offered: base.list(session) });
  const allTools = isToolless
    ? NO_TOOLS
    : replacement?.ownTools === "none"
      ? base
      : withRecall(parts, recalls && own === "all", {
          base: own === "all" ? base : NO_TOOLS,
          ...{ branch: about.branch, contextWindow: about.contextWindow },
          isPlayed: replacement !== undefined,
        });
  const ownTools = hooks?.tools(allTools, approve) ?? allTools;
  const tools =
    client === undefined
      ? ownTools
      : withClientTools(ownTools, { tools: limitTools(client.tools, limits) });
  return { tools, ownTools, mcp, skills };
}

/** Undefined: nobody can be asked. */
function approveIn(
  { approvals, editorOf }: HostParts,
  { allowTools = [] }: TurnSetup,
): Approve | undefined {
  if (approvals === undefined) return undefined;
  const all = allowTools.includes("*");
  return async ({ call, signal, ...asked }) => {
    if (onlyReads(editorOf?.(asked.session.sessionKey))) return { kind: "read-only" };
    if (all || allowTools.includes(call.name))
      return { kind: "answered", answer: "once", at: "http" };
    const { id: callId, name } = call;
    return approvals.ask({ ...asked, callId, name, arguments: call.arguments }, signal);
  };
}

const NO_TOOLS: ToolPort = {
  list: () => [],
  run: ({ call }) => Promise.resolve(noSuchTool(call.name, [])),
};

/** What a recording's calls were offered; where all is, with the tools of the engine that plays. */
const playedTools = (
  { tools: recorded, ownTools }: Replacement,
  own: ToolPort,
  plugins: PluginsInUse | undefined,
): ToolPort =>
  ownTools === "all"
    ? withEngineTools({ recorded, own, ofEngines: plugins?.engineTools ?? new Set() })
    : recorded;

const limitTools = (tools: ToolPort, { toolCallBytes, toolResultBytes }: LimitsConfig): ToolPort =>
  limitToolCalls(limitToolResults(tools, toolResultBytes), toolCallBytes);

/** Of the host's own tools those that its plugins are the reason for. */
export const toolsAdded = async (
  parts: HostParts,
  session: HostSession,
  {
    skills,
    ...about
  }: {
    plugins: PluginsInUse | undefined;
    ofPlugins: readonly OwnedTool[];
    skills: readonly Skill[];
  },
) => [...(await memoryToolsOf(parts, session, about)), ...skillTools(skills)];

/** `engineRecalls`: the engine offers what the host's own two tools would. */
export const withRecall = (
  { loaded }: HostParts,
  engineRecalls: boolean,
  request: SessionToolsRequest,
): ToolPort =>
  loaded.config.session.recall && !engineRecalls ? withSessionTools(request) : request.base;
