// Runs `clew replay`, a recorded transcript through an engine.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { ModelRef } from "@clew/plugin-sdk/host";
import { composeHost } from "../compose.ts";
import type { Environment } from "../config/environment.ts";
import { costOf } from "../costs/cost.ts";
import { noteWithoutGateway } from "../costs/ledger.ts";
import type { Prices } from "../costs/prices.ts";
import type { Host } from "../host/host.ts";
import type { Format } from "../imports/foreign.ts";
import { NO_PRICES } from "../inspect/cost.ts";
import { createSessionCalls } from "../inspect/session-calls.ts";
import { withWindow } from "../lab/play.ts";
import { modelToPlay, planPlaySettings } from "../lab/settings.ts";
import { startPlugins } from "../plugins/start.ts";
import { countedIds } from "../replay/counted-ids.ts";
import { createPlayedCache } from "../replay/prompt-cache.ts";
import { type ReplayWatch, runReplay } from "../replay/run-replay.ts";
import {
  formatReplay,
  type InspectedReplay,
  summarizeReplay,
  withFates,
} from "../replay/summary.ts";
import { openReportLog } from "../reports/report-log.ts";
import { sessionWord } from "../sessions/keys.ts";
import type { OpenSession } from "../sessions/open.ts";
import { agentPaths } from "../sessions/paths.ts";
import { readAllEntries } from "../sessions/read-transcript.ts";
import { createSessionStore, type SessionStore } from "../sessions/store.ts";
import { type Output, printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { notEntries } from "../text/not-entries.ts";
import { findRecording, type Recording } from "./find-recording.ts";
import { showProgress } from "./progress.ts";
import { setUp } from "./setup.ts";

export interface ReplayOptions {
  from?: Format;
  engine?: string;
  model?: string;
  contextWindow?: number;
  into?: string;
  acks?: boolean;
  json?: boolean;
}

export async function replayCommand(
  file: string,
  options: ReplayOptions,
  shell: Shell,
): Promise<number> {
  const recording = await findRecording(file, shell.environment, { from: options.from });
  const {
    environment,
    loaded: settings,
    log,
    output,
  } = await setUp(
    shell,
    { model: options.model, engine: options.engine },
    // Its session is in no home that stays, or in another one.
    { showProblems: true, logOf: options.into === undefined ? null : resolve(options.into) },
  );
  const own =
    options.model === undefined ? modelToPlay(recording.model, settings, environment) : undefined;
  const engine = settings.config.plugins.slots?.contextEngine ?? "legacy";
  // As a comparison plays it, so that both come to the same.
  const loaded = own === undefined ? settings : planPlaySettings(settings, { engine, model: own });
  if (recording.unreadableLines.length > 0)
    output.note(`warning: ${file}: ${notEntries(recording.unreadableLines)}, and skipped.`);
  const home =
    options.into === undefined
      ? await mkdtemp(join(tmpdir(), "clew-replay-"))
      : resolve(options.into);
  const place = { ...environment, home } satisfies Environment;
  // Installed plugins are where the person has them; what they store belongs to the replay.
  const plugins = await startPlugins({ environment, stateDir: home, loaded, log });
  const host = composeHost({ environment: place, loaded, log, plugins, callsNoModel: true });
  const cancelled = new AbortController();
  const onSignal = () => cancelled.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const { signal } = cancelled;
  try {
    await replayInto(home, { recording, options, host, output, signal });
    return 0;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    await plugins.close();
    await host.close();
    log.close();
    if (options.into === undefined) await rm(home, { recursive: true, force: true });
  }
}

interface ReplayInto {
  recording: Recording;
  options: ReplayOptions;
  host: Host;
  output: Output;
  signal: AbortSignal;
}

async function replayInto(home: string, request: ReplayInto): Promise<void> {
  const { recording, options, host, output, signal } = request;
  const { name, cwd, turns } = recording;
  const { model: named, prices } = host.model("main");
  const model = withWindow(named, options.contextWindow);
  const session = await openReplaySession(createSessionStore({ home }), name, cwd);
  const { agentId, sessionId } = session.session;
  const folder = agentPaths(home, agentId).reports;
  const reports = openReportLog(folder, sessionId);
  const { sessionKey } = session.session;
  if (options.into !== undefined)
    noteWithoutGateway(home, { kind: "played", session: sessionKey, at: new Date() });
  const allEntries = () => readAllEntries(session.session.sessionFile);
  try {
    const progress = showProgress(output, name);
    const played = await runReplay({
      ...{ host, reports, model, prices, signal, watch: cachedWatch(prices) },
      session: options.acks === true ? acknowledging(session, output) : session,
      ...{ turns, ownTools: "all" as const },
      onProgress: progress.show,
    });
    const source = { ...{ folder, sessionId, allEntries }, branch: session.branch() };
    const inspected = createSessionCalls(source, NO_PRICES);
    await inspected.refresh(source);
    const result = withFates(played, inspected.rows);
    print(output, { result, model, session, recording, home, options });
  } finally {
    await session.close();
    await reports.close();
  }
}

/** What its provider's cache would give back, as comparisons and what-if reckon it. */
function cachedWatch(prices: Prices | null): ReplayWatch {
  const cache = createPlayedCache();
  return {
    onCall: () => {},
    onReport: () => {},
    usageOf(call, output, now) {
      const usage = cache.usage(call, output, now);
      const cost = costOf(usage, prices);
      // Whoever looks at the session later may not know the prices.
      return cost === null ? usage : { ...usage, cost };
    },
  };
}

function print(
  output: Output,
  given: {
    result: InspectedReplay;
    model: ModelRef;
    session: OpenSession;
    recording: Recording;
    home: string;
    options: ReplayOptions;
  },
): void {
  const { result, model, session, recording, home, options } = given;
  if (options.json === true) {
    const about = { file: recording.file, model, session: sessionOf(session, options) };
    output.json({ ...about, ...summarizeReplay(result), perCall: result.calls });
  } else if (options.acks !== true) {
    output.line(printable(formatReplay(result)));
    if (options.into !== undefined)
      output.line(
        `The session is ${session.session.sessionKey} in ${home}; "clew usage ${sessionWord(session.session.sessionKey)}" there tells what it would have cost, which nobody paid.`,
      );
  }
}

function sessionOf(
  { session }: OpenSession,
  { into }: ReplayOptions,
): { key: string; home: string } | null {
  return into === undefined ? null : { key: session.sessionKey, home: resolve(into) };
}

/** Each replay has a session of its own; one that is there already is never continued. */
async function openReplaySession(
  store: SessionStore,
  name: string,
  cwd: string,
): Promise<OpenSession> {
  for (let number = 1; ; number++) {
    const key = number === 1 ? `replay-${name}` : `replay-${name}-${number}`;
    if ((await store.find(key)) === null) return store.open({ key, cwd, newId: countedIds() });
  }
}

/** Prints the id of each entry once it is durable: what a test of sudden death may count on. */
function acknowledging(session: OpenSession, output: Output): OpenSession {
  return {
    ...session,
    append: async (entries) => {
      const stored = await session.append(entries);
      for (const { id } of stored) output.line(id);
      return stored;
    },
  };
}
