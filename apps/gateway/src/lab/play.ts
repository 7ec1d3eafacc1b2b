// Plays a recording through an engine in a place of its own, and measures every call.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LogPort } from "@clew/engine-core";
import type { ModelRef, ToolDefinition } from "@clew/plugin-sdk/host";
import { composeHost } from "../compose.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Host, Replacement } from "../host/host.ts";
import { ownToolsIn } from "../host/played-tools.ts";
import type { PluginHost } from "../plugins/host.ts";
import { startPlugins } from "../plugins/start.ts";
import { countedIds } from "../replay/counted-ids.ts";
import type { RecordedTurn } from "../replay/recorded-turns.ts";
import { runReplay } from "../replay/run-replay.ts";
import { openReportLog } from "../reports/report-log.ts";
import { DEFAULT_AGENT_ID } from "../sessions/keys.ts";
import { agentPaths } from "../sessions/paths.ts";
import { createSessionStore } from "../sessions/store.ts";
import { createMeter, followRows, type MeasuredPoint } from "./points.ts";
import type { Played } from "./shapes.ts";

export interface PlayRequest {
  environment: Environment;
  /** Settings in force, the engine's slot included. */
  loaded: Pick<LoadedConfig, "config" | "raw">;
  log: LogPort;
  turns: readonly RecordedTurn[];
  /**
   * What each call was offered, which counts: the engine's own tools stand in place of those of
   * another engine. Absent: nothing but those.
   */
  tools?: readonly ToolDefinition[];
  /** What a client said in the system prompt. Absent: nothing. */
  system?: Replacement["system"];
  /** Counted / estimated tokens of the model, as was learned. Absent: 1. */
  tokenRatio?: number | undefined;
  /** Registered id; the settings name it in the slot, so that its plugin is loaded. */
  engine: string;
  /** Whose settings count. Absent: those of "main". */
  agentId?: string;
  /** Tokens. Absent: the model's. */
  contextWindow?: number | undefined;
  /** An empty folder, which the caller removes. Absent: one is made and removed. */
  place?: string | undefined;
  onProgress?: (progress: { turn: number; turns: number; calls: number }) => void;
  /** Told once whom it may ask about models, before it plays. */
  onHost?: (host: Pick<Host, "namedModel">) => void;
  signal: AbortSignal;
}

export interface MeasuredPlay extends Played {
  points: MeasuredPoint[];
}

/** Nothing is left of it. Throws what a start would, where the engine or the model is not there. */
export async function playRecording(request: PlayRequest): Promise<MeasuredPlay> {
  const { environment, loaded, log } = request;
  const home = request.place ?? (await makePlace());
  try {
    // Installed plugins are where the person has them; what they store belongs to the play.
    const plugins = await startPlugins({ environment, stateDir: home, loaded, log });
    try {
      const host = composeHost({
        ...{ environment: { ...environment, home }, loaded, log, plugins },
        callsNoModel: true,
      });
      request.onHost?.(host);
      const ownTools = await ownToolsOf(plugins, request.tools);
      return await playIn(home, host, { ...request, ownTools }).finally(() => host.close());
    } finally {
      await plugins.close();
    }
  } finally {
    if (request.place === undefined) await removePlace(home);
  }
}

/** A folder for one play. */
export const makePlace = (): Promise<string> => mkdtemp(join(tmpdir(), "clew-lab-"));

export const removePlace = (place: string): Promise<void> =>
  rm(place, { recursive: true, force: true, maxRetries: 3 });

async function playIn(
  home: string,
  host: ReturnType<typeof composeHost>,
  {
    agentId = DEFAULT_AGENT_ID,
    turns,
    tools,
    ownTools,
    system,
    tokenRatio,
    engine,
    contextWindow,
    onProgress,
    signal,
  }: PlayRequest & Pick<Replacement, "ownTools">,
): Promise<MeasuredPlay> {
  const { model: named, prices } = host.model(agentId);
  const model = withWindow(named, contextWindow);
  const started = performance.now();
  const key = `agent:${agentId}:played`;
  const session = await createSessionStore({ home }).open({ key, cwd: home, newId: countedIds() });
  const { sessionId } = session.session;
  const reports = openReportLog(agentPaths(home, agentId).reports, sessionId);
  try {
    const { watch, pointsOf } = createMeter({ turns, tokenRatio });
    const result = await runReplay({
      ...{ session, reports, model, turns, watch, tokenRatio, signal },
      ...(ownTools !== undefined && { ownTools }),
      ...(system !== undefined && { system }),
      ...(tools !== undefined && { tools }),
      // Also where the agent has an engine of its own.
      host: { ...host, answer: (asked) => host.answer({ ...asked, engine }) },
      ...(onProgress !== undefined && { onProgress }),
    });
    const { ran, degraded } = result.engine;
    const why = degraded && `${degraded.operation}: ${degraded.reason}`;
    return {
      engine: { asked: engine, ran, degraded: why },
      model: `${model.provider}/${model.id}`,
      contextWindow: model.contextWindow,
      turns: result.turns,
      compactions: result.compactions,
      callsNotMade: result.callsNotMade,
      failures: result.failures.map(({ turn, reason }) => ({ turn, reason })),
      durationMs: Math.round(performance.now() - started),
      points: pointsOf(await followRows(session, { home, prices })()),
    };
  } finally {
    await session.close();
    await reports.close();
  }
}

/** What of its own the gateway offers to a session that was offered this. */
export const ownToolsOf = (
  plugins: PluginHost,
  tools: readonly ToolDefinition[] | undefined,
): Promise<NonNullable<Replacement["ownTools"]>> =>
  plugins.use(async ({ engineTools }) =>
    tools === undefined ? "all" : ownToolsIn(tools, engineTools),
  );

/** A reply takes at most half of it. */
export function withWindow(model: ModelRef, contextWindow: number | undefined): ModelRef {
  if (contextWindow === undefined) return model;
  const maxOutputTokens = Math.min(model.maxOutputTokens, Math.floor(contextWindow / 2));
  return { ...model, contextWindow, maxOutputTokens };
}
