// Plays each turn that is over through a second engine with data of its own.
import { join } from "node:path";
import { createSessionState, type LogPort, type SessionState } from "@clew/engine-core";
import type { ToolDefinition } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { composeHost } from "../compose.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import { addCosts, type Cost, costOf, NO_COST } from "../costs/cost.ts";
import { makeOwnFolder } from "../home/no-links.ts";
import type { Host, Replacement } from "../host/host.ts";
import { NO_PRICES } from "../inspect/cost.ts";
import { createSessionCalls, type SessionCalls } from "../inspect/session-calls.ts";
import type { SessionSource } from "../inspect/session-source.ts";
import type { CallRow } from "../inspect/shapes/calls.ts";
import type { PluginHost } from "../plugins/host.ts";
import { startPlugins } from "../plugins/start.ts";
import { promptTimes } from "../replay/player.ts";
import { createPlayedCache, type PlayedCache } from "../replay/prompt-cache.ts";
import { planRecordedTurns, type RecordedTurn } from "../replay/recorded-turns.ts";
import { runReplay } from "../replay/run-replay.ts";
import { openReportLog, type ReportLog } from "../reports/report-log.ts";
import type { OpenSession } from "../sessions/open.ts";
import { agentPaths, transcriptFile } from "../sessions/paths.ts";
import { readAllEntries, readTranscript } from "../sessions/read-transcript.ts";
import { createSessionStore } from "../sessions/store.ts";
import { type NeededNames, namesHeld, planNeededNames } from "./evidence.ts";
import { madeUsage } from "./made-cache.ts";
import { ownToolsOf, withWindow } from "./play.ts";
import { createMeter, engineMsOf, followRows, pointOfRow } from "./points.ts";
import { readTools } from "./session-recording.ts";
import { planPlaySettings } from "./settings.ts";
import { appendShadowLine, readShadowLines, type ShadowLine, shadowFile } from "./shadow-lines.ts";
import type { PlayedPoint } from "./shapes.ts";

/** A turn that is over. */
export interface ShadowJob {
  engine: string;
  agentId: string;
  sessionId: string;
  promptEntryId: string;
  /** Who answered, and what it holds. */
  model: string;
  contextWindow: number | undefined;
  /** Hashes of the tools that it was offered: the shadow's model is offered the same. */
  tools: readonly string[];
  /** Counted / estimated tokens of its model, as was learned by then. Absent: 1. */
  tokenRatio?: number | undefined;
}

export interface ShadowPlayer {
  /** Plays what the shadow has not seen yet, up to this turn; told of each turn that it stored. */
  play(job: ShadowJob, onTurn: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface ShadowPlayerOptions {
  environment: Environment;
  /** As of `Storage`. */
  records: string;
  /** Settings in force in the gateway. */
  loaded: Pick<LoadedConfig, "config" | "raw">;
  log: LogPort;
}

/** Where a shadow engine keeps what is its own. */
export const shadowHome = (home: string, engine: string): string =>
  join(home, "shadow", engine.replace(/[^\w.-]/g, "_"));

interface Shadowed {
  session: OpenSession;
  reports: ReportLog;
  state: SessionState;
  cache: PlayedCache;
  rows: () => Promise<readonly CallRow[]>;
}

export function createShadowPlayer(options: ShadowPlayerOptions): ShadowPlayer {
  const hosts = new Map<string, Promise<{ host: Host; plugins: PluginHost }>>();
  const shadowed = new Map<string, Promise<Shadowed>>();
  const made = createMadeCalls(options.records);
  const hostOf = (engine: string) => {
    const known = hosts.get(engine) ?? startHost(options, engine);
    hosts.set(engine, known);
    return known;
  };
  const openOf = (job: ShadowJob, began: number, host: Host) => {
    const id = `${job.engine} ${job.sessionId} ${began}`;
    const known = shadowed.get(id) ?? openShadow(options.environment.home, job, { began, host });
    shadowed.set(id, known);
    return known;
  };
  return {
    async play(job, onTurn) {
      const { home } = options.environment;
      const { records } = options;
      const { branch } = await readTranscript(transcriptFile(records, job.agentId, job.sessionId));
      const turns = planRecordedTurns(branch);
      const file = shadowFile(home, job.agentId, job.sessionId);
      const { from, to, began } = planTurns(turns, await readShadowLines(file), job);
      if (from > to) return;
      const { host, plugins } = await hostOf(job.engine);
      const open = await openOf(job, began, host);
      const names = planNeededNames(turns);
      const tools = await readTools(agentPaths(records, job.agentId).reports, job.tools);
      const ownTools = await ownToolsOf(plugins, tools);
      const pointsOf = await made.read(job, branch, host.namedModel(job.model));
      for (let at = from; at <= to; at++) {
        const line = await playTurn({ host, open, job, turns, at, names, tools, ownTools });
        const own = await pointsOf(turns[at]!.promptEntryId, names[at] ?? []);
        const calls = pairUp(own, line.points);
        const { points: _points, ...kept } = line;
        await appendShadowLine(file, { ...kept, calls });
        onTurn();
      }
    },
    async close() {
      for (const open of shadowed.values()) {
        const { session, reports } = await open;
        await session.close();
        await reports.close();
      }
      for (const started of hosts.values()) {
        const { host, plugins } = await started;
        await plugins.close();
        await host.close();
      }
    },
  };
}

/**
 * Pure. From behind the newest turn that was played; all, when that is not on the branch any more,
 * or a process ended since: what its engine had of a turn by then nobody knows. `began` counts how
 * often that was.
 */
export function planTurns(
  turns: readonly RecordedTurn[],
  lines: readonly ShadowLine[],
  { engine, promptEntryId }: Pick<ShadowJob, "engine" | "promptEntryId">,
): { from: number; to: number; began: number } {
  const own = lines.filter((line) => line.engine === engine);
  const ends = own.filter((line) => line.promptEntryId === null).length;
  const since = own.slice(own.findLastIndex((line) => line.promptEntryId === null) + 1);
  const played = new Set(since.map((line) => line.promptEntryId));
  const last = turns.findLastIndex((turn) => played.has(turn.promptEntryId ?? ""));
  const to = turns.findIndex((turn) => turn.promptEntryId === promptEntryId);
  return { from: last + 1, to, began: ends };
}

async function startHost({ environment, loaded, log }: ShadowPlayerOptions, engine: string) {
  const home = shadowHome(environment.home, engine);
  await makeOwnFolder(environment.home, home);
  const settings = planPlaySettings(loaded, { engine, home: environment.home });
  const plugins = await startPlugins({ environment, stateDir: home, loaded: settings, log });
  const place = { ...environment, home };
  const own = { environment: place, loaded: settings, log, plugins, callsNoModel: true as const };
  return { host: composeHost(own), plugins };
}

async function openShadow(
  home: string,
  { engine, agentId, sessionId, model }: ShadowJob,
  { began, host }: { began: number; host: Host },
): Promise<Shadowed> {
  const place = shadowHome(home, engine);
  const key = `agent:${agentId}:shadow-${sessionId}-${began}`;
  const session = await createSessionStore({ home: place }).open({ key, cwd: place });
  const own = session.session.sessionId;
  const reports = openReportLog(agentPaths(place, agentId).reports, own);
  const rows = followRows(session, { home: place, prices: host.namedModel(model).prices });
  return { session, reports, state: createSessionState(), cache: createPlayedCache(), rows };
}

interface TurnToPlay {
  host: Host;
  open: Shadowed;
  job: ShadowJob;
  turns: readonly RecordedTurn[];
  at: number;
  names: NeededNames;
  tools: readonly ToolDefinition[];
  ownTools: NonNullable<Replacement["ownTools"]>;
}

async function playTurn({ host, open, job, turns, at, names, tools, ownTools }: TurnToPlay) {
  const { engine, contextWindow, tokenRatio } = job;
  const { session, reports, state, cache, rows } = open;
  const started = performance.now();
  const model = withWindow(host.namedModel(job.model).model, contextWindow);
  const turn = turns[at]!;
  const meter = { turns: [turn], names: [names[at] ?? []], cache, tokenRatio };
  const { watch, pointsOf } = createMeter(meter);
  const result = await runReplay({
    ...{ session, reports, state, model, turns: [turn], watch, tools, ownTools, tokenRatio },
    host: { ...host, answer: (asked) => host.answer({ ...asked, engine }) },
    signal: new AbortController().signal,
  });
  const { degraded } = result.engine;
  const [failure] = result.failures;
  const trouble =
    degraded !== null
      ? `${degraded.operation}: ${degraded.reason}`
      : failure === undefined
        ? null
        : failure.reason;
  return {
    ...{ v: 2 as const, at: new Date().toISOString(), engine, trouble },
    promptEntryId: turn.promptEntryId ?? null,
    // What the fallback would have sent is no word of this engine.
    points: degraded === null ? pointsOf(await rows()) : [],
    ms: Math.round(performance.now() - started),
  };
}

const pairUp = (
  made: readonly PlayedPoint[],
  shadow: readonly (PlayedPoint & { place: unknown })[],
): ShadowLine["calls"] =>
  made.map((point, at) => {
    const other = shadow[at];
    if (other === undefined) return { made: point, shadow: null };
    const { place: _place, ...own } = other;
    return { made: withReply(point, own), shadow: { ...own, ofCall: point.id } };
  });

/** The same reply answers both. */
const withReply = (point: PlayedPoint, { cost }: PlayedPoint): PlayedPoint => ({
  ...point,
  cost: point.cost && cost && addCosts([point.cost, { ...NO_COST, ...outputOf(cost) }]),
});

const outputOf = ({ output }: Cost) => ({ output, total: output });

/**
 * The calls that were made, as the inspector counts them, tokens as they are estimated. Cost and
 * cache are reckoned as those of the shadow are, whatever was billed: else it would be given a
 * better cache than the session had.
 */
function createMadeCalls(records: string) {
  const sessions = new Map<string, SessionCalls>();
  return {
    /** To be asked for the points of a turn by the entry of its prompt: those with a reply. */
    async read(
      { agentId, sessionId, tokenRatio = 1 }: ShadowJob,
      branch: readonly TranscriptEntry[],
      { model, prices }: Pick<ReturnType<Host["namedModel"]>, "model" | "prices">,
    ) {
      const folder = agentPaths(records, agentId).reports;
      const allEntries = () => readAllEntries(transcriptFile(records, agentId, sessionId));
      const source = { folder, sessionId, branch, allEntries };
      const id = `${agentId} ${sessionId}`;
      const known = sessions.get(id);
      const calls =
        known !== undefined && (await known.refresh(source)) ? known : await readAnew(source);
      sessions.set(id, calls);
      const held = namesHeld(branch);
      return async (prompt: string | undefined, names: NeededNames[number]) => {
        const points: PlayedPoint[] = [];
        const { turn } = calls.rows.findLast((row) => row.promptEntryId === prompt) ?? {};
        for (const row of calls.rows.filter((each) => each.turn === turn)) {
          const opened = (await calls.open(row.id))!;
          const { report, call, messages } = opened;
          const isLast = row.call === report.modelCalls.length;
          if (call.error !== null && !isLast) continue;
          const needed = names[points.length] ?? new Set<string>();
          const evidence = { needed: needed.size, present: held(messages, needed) };
          const before = calls.rows[calls.rows.indexOf(row) - 1];
          const usage = madeUsage(opened, before && (await calls.open(before.id)), model);
          points.push({
            ...pointOfRow(row, { evidence, engineMs: engineMsOf(report) }),
            cache: { read: usage.cacheRead, written: usage.cacheWrite },
            cost: costOf(promptTimes(usage, tokenRatio), prices),
          });
        }
        return points;
      };
    },
  };
}

async function readAnew(source: SessionSource): Promise<SessionCalls> {
  const calls = createSessionCalls(source, NO_PRICES, "estimated");
  await calls.refresh(source);
  return calls;
}
