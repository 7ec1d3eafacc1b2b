// Offers the tools of plugins in the agent loop, where all but read-only ones ask first.

import type { HostSession, LogPort, ToolOutcome, ToolPort } from "@clew/engine-core";
import {
  isAbort,
  type PluginTool,
  type ToolCallBlock,
  type ToolResultBlock,
} from "@clew/plugin-sdk/core";
import type { ToolDefinition } from "@clew/plugin-sdk/host";
import { abortable } from "@clew/plugin-sdk/host";
import { type ApprovalEnd, describeEnd, isAllowed } from "../../approvals/approval.ts";
import { type Approve, noSuchTool, notAllowed } from "../../tools/tool.ts";
import { messageOf } from "../invalid.ts";
import { messageAndPlace } from "../load/error-place.ts";
import { compileSchema, type SchemaChecker } from "../load/json-schema.ts";
import { badToolName, isToolName, toolProblem, undeclaredTools } from "../load/register.ts";
import { nameIn, type RegisteredTool } from "../load/registrations.ts";
import type { RunAs } from "../load/running.ts";
import { inPluginScope } from "../load/scope.ts";
import { CHANNEL, PERSON } from "./hook-context.ts";

export interface OwnedTool extends RegisteredTool {
  pluginId: string;
  /** Names from the manifest: the only ones a factory may return. */
  declared: readonly string[];
  /** `plugins.entries.<id>.tools`. */
  permissions: ToolPermissions;
}

export interface ToolPermissions {
  /** Run without asking. */
  allow?: readonly string[];
  /** Not offered at all. */
  deny?: readonly string[];
}

interface OfferedTool {
  pluginId: string;
  tool: PluginTool;
  definition: ToolDefinition;
  checker: SchemaChecker;
  runsUnasked: boolean;
}

const NOBODY: ApprovalEnd = { kind: "nobody" };

export interface PluginToolsRequest {
  /** The host's own tools; they keep their names. */
  base: ToolPort;
  /** Of one generation of plugins; always the same array for the same one. */
  tools: readonly OwnedTool[];
  /** Undefined: nobody can be asked, so the answer is no. */
  approve?: Approve | undefined;
}

export type PluginTools = (request: PluginToolsRequest) => ToolPort;

export interface PluginToolsOptions {
  log: LogPort;
  runAs: RunAs;
  /** Where the agent of a session works and keeps its files. Absent: factories are not told. */
  foldersOf?: (agentId: string) => { workspaceDir: string; agentDir: string };
}

/** Gives the host's tools and those of plugins behind one port, for one run. */
export function createPluginTools(options: PluginToolsOptions): PluginTools {
  const { runAs } = options;
  const offersOf = createOffers(options);
  const listOf = ({ base, tools }: PluginToolsRequest, session: HostSession) => {
    const own = base.list(session);
    const taken = new Set(own.map(({ name }) => name));
    return [
      ...own,
      ...offersOf(tools, session).flatMap(({ definition }) =>
        taken.has(definition.name) ? [] : [definition],
      ),
    ];
  };
  return (port) => ({
    list: (session) => listOf(port, session),
    async run(request) {
      const { base, tools, approve } = port;
      const { call, session, signal } = request;
      if (base.list(session).some(({ name }) => name === call.name)) return base.run(request);
      const offered = offersOf(tools, session).find(
        ({ definition }) => definition.name === call.name,
      );
      if (offered === undefined) return noSuchTool(call.name, listOf(port, session));
      const checked = offered.checker.check(call.arguments);
      if (!checked.ok)
        return refusal(`The arguments of ${call.name} are wrong: ${checked.problems.join("; ")}`);
      const given = checked.value as ToolCallBlock["arguments"];
      const execution = () =>
        inPluginScope(session, () =>
          runAs(offered.pluginId, () => execute(offered, { ...call, arguments: given }, signal)),
        );
      if (offered.runsUnasked) return execution();
      const asker = { kind: "plugin", id: offered.pluginId } as const;
      const asked = { asker, call: { ...call, arguments: given }, session, signal };
      const end = (await approve?.(asked)) ?? NOBODY;
      if (!isAllowed(end)) return notAllowed(call.name, end);
      return { ...(await execution()), note: describeEnd(end) };
    },
  });
}

/**
 * Factories run once per session and generation of plugins; sessions that ended are forgotten
 * with their identity object.
 */
function createOffers(
  options: PluginToolsOptions,
): (tools: readonly OwnedTool[], session: HostSession) => readonly OfferedTool[] {
  const generations = new WeakMap<readonly OwnedTool[], Map<string, readonly OfferedTool[]>>();
  return (tools, session) => {
    const made = generations.get(tools) ?? new Map<string, readonly OfferedTool[]>();
    generations.set(tools, made);
    const key = `${session.sessionKey}\0${session.sessionId}`;
    const known = made.get(key) ?? makeOffers(tools, session, options);
    if (made.size >= 256) made.delete(made.keys().next().value!);
    made.set(key, known);
    return known;
  };
}

function makeOffers(
  tools: readonly OwnedTool[],
  session: HostSession,
  { log, runAs, foldersOf }: PluginToolsOptions,
): OfferedTool[] {
  const offers = new Map<string, OfferedTool>();
  for (const owned of tools) {
    const warn = (problem: string) => log.warn(`[plugins] ${owned.pluginId}: ${problem}`);
    try {
      const made = inPluginScope(session, () =>
        runAs(owned.pluginId, () => owned.make(contextOf(session, foldersOf))),
      );
      for (const tool of toList(made)) {
        const problem = toolProblem(tool, nameIn((tool as Partial<PluginTool> | null)?.name));
        if (problem !== null) {
          warn(problem);
          continue;
        }
        if (owned.permissions.deny?.includes(tool.name)) continue;
        if (typeof tool.name === "string" && !isToolName(tool.name)) warn(badToolName(tool.name));
        else if (!owned.declared.includes(tool.name)) warn(undeclaredTools([nameIn(tool.name)]));
        else if (offers.has(tool.name))
          warn(
            `tool "${tool.name}" is offered by plugin "${offers.get(tool.name)!.pluginId}" already`,
          );
        else offers.set(tool.name, toOffer(owned, tool));
      }
    } catch (error) {
      warn(`a tool could not be created: ${messageAndPlace(error)}`);
    }
  }
  return [...offers.values()];
}

function toOffer({ pluginId, permissions }: OwnedTool, tool: PluginTool): OfferedTool {
  const { name, description, parameters } = tool;
  const saysReadOnly =
    (tool as { annotations?: { readOnlyHint?: unknown } }).annotations?.readOnlyHint === true;
  return {
    pluginId,
    tool,
    definition: {
      name,
      description: description ?? "",
      parameters: parameters ?? { type: "object", properties: {} },
    },
    checker: compileSchema(parameters ?? {}, { defaults: true, coerces: true }),
    runsUnasked: saysReadOnly || (permissions.allow?.includes(name) ?? false),
  };
}

const toList = (made: PluginTool | PluginTool[] | null | undefined): PluginTool[] =>
  made === null || made === undefined ? [] : Array.isArray(made) ? made : [made];

/** In the words of plugins; whoever talks to this host is its person. */
export const contextOf = (
  { agentId, sessionId, sessionKey }: Pick<HostSession, "agentId" | "sessionId" | "sessionKey">,
  foldersOf: PluginToolsOptions["foldersOf"],
) => ({
  ...{ agentId, sessionId, sessionKey, ...foldersOf?.(agentId) },
  ...{ messageChannel: CHANNEL, requesterSenderId: PERSON, senderIsOwner: true },
});

async function execute(
  { tool }: OfferedTool,
  call: ToolCallBlock,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  try {
    // A tool that does not listen to its signal must not keep a cancelled run waiting.
    const result = await abortable(signal, () => tool.execute(call.id, call.arguments, signal));
    const { content, left } = readContent(result);
    if (content.length === 0 && result?.details === undefined)
      return refusal([`${call.name} gave no result.`, ...left].join(" "));
    return {
      content: [
        ...(content.length > 0 ? content : [textOf(JSON.stringify(result.details))]),
        ...left.map(textOf),
      ],
      isError: (result as { isError?: unknown }).isError === true,
      ...(result.details !== undefined && { details: result.details }),
    };
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    return refusal(`${call.name} failed: ${messageOf(error)}`);
  }
}

function isBlock(block: unknown): block is ToolResultBlock {
  const { type, text, data, mimeType } = (block ?? {}) as Record<string, unknown>;
  return (
    (type === "text" && typeof text === "string") ||
    (type === "image" && typeof data === "string" && typeof mimeType === "string")
  );
}

const textOf = (text: string): ToolResultBlock => ({ type: "text", text });

/** A text stands for one block of text. `left`: what cannot be shown, each with why. */
function readContent(result: unknown): { content: ToolResultBlock[]; left: string[] } {
  const given: unknown =
    typeof result === "string" ? result : (result as { content?: unknown } | null)?.content;
  if (typeof given === "string") return { content: [textOf(given)], left: [] };
  if (given === undefined || given === null) return { content: [], left: [] };
  if (!Array.isArray(given)) return { content: [], left: ["Its content is no list of blocks."] };
  return {
    content: given.filter(isBlock),
    left: given.flatMap((block: unknown, at) =>
      isBlock(block) ? [] : [`Its content[${at}] is neither a text block nor an image block.`],
    ),
  };
}

const refusal = (text: string): ToolOutcome => ({
  content: [textOf(text)],
  isError: true,
});
