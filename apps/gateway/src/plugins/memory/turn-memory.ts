// What the chosen memory gives to one turn.
import type { HostSession, LogPort, SystemPart, TurnReport } from "@clew/engine-core";
import { normalizePromptText, type PreparedMemoryPrompt } from "@clew/plugin-sdk/host";
import { bytesOf } from "../../limits/size.ts";
import type { Tool } from "../../tools/tool.ts";
import type { RunAs } from "../load/running.ts";
import type { OwnedTool } from "../offer/tools.ts";
import { learnAbilities } from "./abilities.ts";
import type { ActiveMemory } from "./choose-memory.ts";
import { MEMORY_SECTION, tellWrong } from "./memory-answers.ts";
import { memoryTools } from "./memory-tools.ts";
import { prepareSection } from "./section.ts";

export interface TurnMemoryRequest {
  memory: ActiveMemory;
  session: HostSession;
  /** Names of the tools that the model is offered. */
  tools: readonly string[];
  citations: "auto" | "on" | "off";
  /** True: the host shows the section; else the engine does (contract §3.1 step 1). */
  isShownByHost: boolean;
  runAs: RunAs;
  /** Of one plugin's lines. */
  limitBytes: number;
  log: LogPort;
  signal: AbortSignal | undefined;
}

export interface TurnMemory {
  /** What engines find while the turn runs; undefined = nothing could be said of any memory. */
  prepared: PreparedMemoryPrompt | undefined;
  /** Of the host's own system prompt. */
  parts: SystemPart[];
  /** For the report; undefined = no memory is chosen. Asked when the turn is over. */
  told(): TurnReport["memory"];
}

/** Rejects with the reason of an abort only: what a plugin does wrong is told in the report. */
export async function prepareMemory(request: TurnMemoryRequest): Promise<TurnMemory> {
  const { memory, session, citations, isShownByHost, log, signal } = request;
  const { agentId, sessionKey } = session;
  const params = {
    availableTools: new Set(request.tools),
    ...{ citationsMode: citations, agentId, agentSessionKey: sessionKey, sandboxed: false },
  };
  const { lines, problems } = await prepareSection(memory, params, { ...request, signal });
  for (const { plugin, reason } of problems)
    tellWrong(log, { plugin, asked: MEMORY_SECTION, wrong: reason });
  const text = normalizePromptText(lines.join("\n"));
  let wasRead = false;
  const onRead = () => {
    wasRead = true;
  };
  const shownBy = () => (isShownByHost ? "host" : wasRead ? "engine" : "nobody");
  const plugin = memory.chosen?.pluginId ?? memory.supplements[0]?.pluginId;
  return {
    prepared: plugin === undefined ? undefined : { params, lines, onRead },
    parts: isShownByHost && text !== undefined ? [{ id: "memory", text }] : [],
    told: () =>
      plugin === undefined
        ? undefined
        : { plugin, bytes: bytesOf(lines), ...(text !== undefined && { shownBy: shownBy() }) },
  };
}

export interface MemoryToolsGiven {
  session: HostSession;
  runAs: RunAs;
  cfg: unknown;
  citations: "auto" | "on" | "off";
  log: LogPort;
}

/** Tools of that name that a plugin brings go first: it knows its memory best. */
export async function toolsOfMemory(
  { chosen }: ActiveMemory,
  ofPlugins: readonly OwnedTool[],
  { citations, ...given }: MemoryToolsGiven,
): Promise<Tool[]> {
  if (chosen === null) return [];
  const request = { ...given, memory: chosen, cites: citations !== "off" };
  await learnAbilities(request);
  const tools = memoryTools({ ...request, agentId: given.session.agentId });
  return tools.filter(
    ({ name }) => !ofPlugins.some(({ names, declared }) => (names ?? declared).includes(name)),
  );
}
