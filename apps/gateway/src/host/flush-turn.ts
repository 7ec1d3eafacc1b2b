// Runs one memory flush as a silent turn on a view of its own.
import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import {
  createSessionState,
  FALLBACK_ENGINE_ID,
  runTurn,
  type TurnResult,
} from "@clew/engine-core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { messageOf } from "../plugins/invalid.ts";
import type { PluginsInUse } from "../plugins/live-generation.ts";
import { inRequest } from "../plugins/load/scope.ts";
import type { FlushSettings } from "../plugins/memory/flush/flush-settings.ts";
import { planFlushSettings } from "../plugins/memory/flush/flush-settings.ts";
import { flushTools } from "../plugins/memory/flush/flush-tools.ts";
import { detachedSession, planFlushView } from "../plugins/memory/flush/flush-view.ts";
import type { FlushOutcome, FlushRequest, FlushSubject } from "../plugins/memory/flush/flushes.ts";
import { takePlan, tellWrong } from "../plugins/memory/memory-answers.ts";
import { inMemoryRun } from "../plugins/memory/memory-run.ts";
import { agentOf, type HostParts } from "./parts.ts";
import { memoryToolsOf } from "./turn-memory.ts";
import { prepareTurn } from "./turn-setup.ts";
import { withTimeout } from "./turn-timeout.ts";

/** Room for what a flush says and stores, tokens. */
const FLUSH_ROOM = 4_000;
/** Estimates may be this much too low. */
const MARGIN = 1.15;
const MOST_CALLS = 8;

/** Nothing of it is shown or stored but what its tools store. Never rejects. */
export async function runFlushTurn(parts: HostParts, request: FlushRequest): Promise<FlushOutcome> {
  const { plugins } = parts;
  const { session } = request.transcript;
  if (plugins === undefined) return { state: "aborted" };
  try {
    // The turn after which it begins is told nothing of it.
    const scope = { ...session, notice: nobody, refused: nobody };
    return await plugins.use((inUse) => inRequest(scope, () => runOn(parts, request, inUse)));
  } catch (error) {
    if (request.signal.aborted) return { state: "aborted" };
    return { state: "failed", reason: messageOf(error) };
  }
}

const nobody = () => {};

async function runOn(
  parts: HostParts,
  { transcript, history, settings, signal }: FlushRequest,
  plugins: PluginsInUse,
): Promise<FlushOutcome> {
  const { session } = transcript;
  const empty = detachedSession(session, []);
  const setup = {
    ...{ state: createSessionState(), signal, engine: FALLBACK_ENGINE_ID },
    purpose: "memory" as const,
  };
  // Window and prompt are known before it is known what fits beside them.
  const { turn: about } = await prepareTurn(parts, { ...setup, transcript: empty }, plugins);
  const limitTokens = roomFor(about);
  const { messages, upTo } = planFlushView(history, { limitTokens });
  const detached = detachedSession(session, messages);
  const { turn, memory } = await prepareTurn(parts, { ...setup, transcript: detached }, plugins);
  const { compaction: _c, hooks: _h, successors: _s, ...ports } = turn.ports;
  const ofPlugin = plugins.tools.filter(
    ({ pluginId }) => pluginId === plugins.memory.chosen?.pluginId,
  );
  const ofMemory = await memoryToolsOf(parts, session, { plugins, ofPlugins: ofPlugin });
  const tools = flushTools({
    base: parts.pluginTools({
      base: parts.tools(undefined, ofMemory),
      tools: ofPlugin,
    }),
    ofPlugin: ofPlugin.flatMap(({ names, declared }) => names ?? declared),
    workspaceOf: ({ agentId }) => agentOf(parts, agentId).workspace,
    own: parts.environment,
    relativePath: settings.relativePath,
  });
  const extra =
    settings.systemPrompt === undefined
      ? []
      : [{ id: "memory-flush", text: settings.systemPrompt }];
  const result = await withTimeout({ seconds: settings.timeoutMs / 1_000, signal }, (bounded) =>
    inMemoryRun(memory.prepared, () =>
      runTurn({
        ...turn,
        ports: { ...ports, tools },
        systemPrompt: [...turn.systemPrompt, ...extra],
        settings: {
          ...turn.settings,
          ...{ autoCompaction: false, midTurnPrecheck: false, maxModelCalls: MOST_CALLS },
        },
        prompt: { content: settings.prompt },
        signal: bounded,
      }),
    ),
  );
  return { ...outcomeOf(result), ...(upTo !== null && { upTo }) };
}

/** Estimated tokens of history. */
function roomFor({
  model,
  systemPrompt,
  settings,
}: Awaited<ReturnType<typeof prepareTurn>>["turn"]) {
  const reserve = Math.min(settings?.reserveTokens ?? 0, model.contextWindow / 4);
  const text = systemPrompt.map((part) => part.text).join("\n");
  const fixed = estimateMessage({ role: "user", content: text }).estimate;
  const ratio = Math.max(1, settings?.tokenRatio ?? 1) * MARGIN;
  return Math.max(0, Math.floor((model.contextWindow - reserve - FLUSH_ROOM) / ratio - fixed));
}

/** Only a file has to be written by the host; a workspace that is not there is made. */
export async function whyNotWritable(
  parts: HostParts,
  { transcript }: FlushSubject,
  { relativePath }: FlushSettings,
): Promise<string | undefined> {
  if (relativePath === undefined) return undefined;
  const { workspace } = agentOf(parts, transcript.session.agentId);
  try {
    await mkdir(workspace, { recursive: true });
    await access(workspace, constants.W_OK);
    return undefined;
  } catch (error) {
    return `the workspace ${workspace} cannot be written (${(error as NodeJS.ErrnoException).code})`;
  }
}

function outcomeOf({ outcome, error, report }: TurnResult): FlushOutcome {
  if (outcome === "aborted") return { state: "aborted" };
  if (outcome === "failed") return { state: "failed", reason: error?.message ?? "it had no reply" };
  const stored = report.toolCalls.filter(({ name, isError }) => !isError && !READS.includes(name));
  const refused = report.toolCalls.filter(({ isError }) => isError);
  if (stored.length > 0) return { state: "done" };
  if (refused.length === 0) return { state: "nothing" };
  const { name, note } = refused.at(-1)!;
  return { state: "failed", reason: note ?? `${name} failed` };
}

const READS = ["read_file", "memory_search", "memory_get"];

const FLUSH_PLAN = "memory flush plan";

/** Of the memory that is chosen now. A session that another one started is its parent's. */
export function flushPlanOf(
  parts: HostParts,
  { transcript }: FlushSubject,
): { plugin: string; settings: FlushSettings } | undefined {
  const { plugins, loaded, log } = parts;
  const { agentId, sessionKey } = transcript.session;
  const chosen = plugins?.memory().chosen ?? null;
  const resolver = chosen?.capability.flushPlanResolver;
  if (plugins === undefined || chosen === null || resolver === undefined) return undefined;
  if (parts.sessionSettings?.(sessionKey) !== undefined) return undefined;
  const plugin = chosen.pluginId;
  try {
    const given = plugins.runAs(plugin, () => resolver({ cfg: loaded.raw, nowMs: Date.now() }));
    const { value, wrong } = takePlan(given);
    tellWrong(log, { plugin, asked: FLUSH_PLAN, wrong });
    const settings = planFlushSettings(value, agentOf(parts, agentId).compaction.memoryFlush);
    return settings && { plugin, settings };
  } catch (error) {
    tellWrong(log, { plugin, asked: FLUSH_PLAN, wrong: messageOf(error) });
    return undefined;
  }
}
