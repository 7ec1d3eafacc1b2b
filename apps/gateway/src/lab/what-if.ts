// Plays a session again as it would have been with another engine, window or model.
import type { LogPort } from "@clew/engine-core";
import { agentSettings } from "../config/agent.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import { whyUnpaid } from "../demo/demo-usage.ts";
import type { Host } from "../host/host.ts";
import { createTokenRatios } from "../models/token-ratios.ts";
import { openStorage } from "../storage/open-storage.ts";
import { withExpected } from "./made-costs.ts";
import { playRecording } from "./play.ts";
import { atOwnCall, readSessionRecording } from "./session-recording.ts";
import { planPlaySettings } from "./settings.ts";
import type { WhatIf, WhatIfAsk } from "./shapes.ts";

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

const ratioFor = async (
  { environment: { home }, log }: WhatIfRequest,
  agentId: string,
  model: string,
): Promise<number> => (await createTokenRatios({ home, log }).ratio(agentId, model)).ratio;

/**
 * Nothing of the session changes and no model is called. What is not asked is as it was in the
 * session's last call. Throws SESSION_NOT_FOUND, TRANSCRIPT_UNREADABLE, and what a start would.
 */
export async function runWhatIf(request: WhatIfRequest): Promise<WhatIf> {
  const { environment, loaded, log, ask, place, onProgress, signal } = request;
  const { home } = environment;
  const storage = await openStorage({ environment, config: loaded.config });
  const recording = await readSessionRecording(storage, { home, name: request.session });
  const { key, agentId, sessionId, turns, asItWas, calls, own, tools, system } = recording;
  let namedModel: Host["namedModel"] | undefined;
  const isItsModel = ask.model === undefined || ask.model === asItWas.model;
  const { config } = loaded;
  const ofAgent = agentSettings(config, environment.home, agentId).engine;
  const engine = ask.engine ?? ofAgent ?? config.plugins.slots?.contextEngine ?? "legacy";
  const model = ask.model ?? asItWas.model ?? undefined;
  // Another model has a window of its own.
  const known = ask.model === undefined ? (asItWas.contextWindow ?? undefined) : undefined;
  const played = await playRecording({
    ...{ environment, log, turns, tools, system, engine, agentId, place, signal },
    // What is off for one model says nothing of another.
    tokenRatio: isItsModel ? asItWas.tokenRatio : await ratioFor(request, agentId, ask.model!),
    loaded: planPlaySettings(loaded, { engine, model, home: environment.home }),
    contextWindow: ask.contextWindow ?? known,
    ...(onProgress !== undefined && { onProgress }),
    onHost: (host) => {
      namedModel = host.namedModel;
    },
  });
  const points = played.points.map((point) => atOwnCall(point, calls));
  const was = withExpected(asItWas, own, {
    namedModel: namedModel!,
    // The same replies answer both, at the prices of the same model.
    points: isItsModel ? points : [],
  });
  const unpaid = await whyUnpaid(environment.home, key);
  return {
    ...{ key, sessionId, asked: ask, unpaid, asItWas: was },
    played: { ...played, points },
  };
}
