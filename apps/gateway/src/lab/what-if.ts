// Plays a session again as it would have been with another engine, window or model.
import type { LogPort } from "@clew/engine-core";
import { agentSettings } from "../config/agent.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { WhatIf, WhatIfAsk } from "../inspect/shapes.ts";
import { playRecording } from "./play.ts";
import { atOwnCall, readSessionRecording } from "./session-recording.ts";
import { planPlaySettings } from "./settings.ts";

export interface WhatIfRequest {
  environment: Environment;
  /** Settings in force. */
  loaded: Pick<LoadedConfig, "config" | "raw">;
  log: LogPort;
  /** Short name or canonical key. */
  session: string;
  ask: WhatIfAsk;
  /** An empty folder, which the caller removes. Absent: one is made and removed. */
  place?: string;
  onProgress?: (progress: { turn: number; turns: number; calls: number }) => void;
  signal: AbortSignal;
}

/**
 * Nothing of the session changes and no model is called. What is not asked is as it was in the
 * session's last call. Throws SESSION_NOT_FOUND, TRANSCRIPT_UNREADABLE, and what a start would.
 */
export async function runWhatIf(request: WhatIfRequest): Promise<WhatIf> {
  const { environment, loaded, log, ask, place, onProgress, signal } = request;
  const recording = await readSessionRecording(environment.home, request.session);
  const { key, agentId, sessionId, turns, asItWas, calls, tools } = recording;
  const { config } = loaded;
  const ofAgent = agentSettings(config, environment.home, agentId).engine;
  const engine = ask.engine ?? ofAgent ?? config.plugins.slots?.contextEngine ?? "legacy";
  const model = ask.model ?? asItWas.model ?? undefined;
  // Another model has a window of its own.
  const known = ask.model === undefined ? (asItWas.contextWindow ?? undefined) : undefined;
  const played = await playRecording({
    ...{ environment, log, turns, tools, engine, agentId, place, signal },
    loaded: planPlaySettings(loaded, { engine, model }),
    contextWindow: ask.contextWindow ?? known,
    ...(onProgress !== undefined && { onProgress }),
  });
  const points = played.points.map((point) => atOwnCall(point, calls));
  return { ...{ key, sessionId, asked: ask, asItWas }, played: { ...played, points } };
}
