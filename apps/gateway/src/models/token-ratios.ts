// Learns from providers' counts how far token estimates are off for each model.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LogPort, TurnReport } from "@clew/engine-core";
import {
  learnRatio,
  RATIO_BOUNDS,
  type TokenRatio,
  UNKNOWN_RATIO,
} from "@clew/legacy-engine/parts";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import { z } from "zod";
import { makeOwnFolder } from "../home/no-links.ts";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";

const FileSchema = z.object({
  v: z.literal(1),
  models: z.record(
    z.string(),
    z.object({
      ratio: z.number().min(RATIO_BOUNDS.min).max(RATIO_BOUNDS.max),
      samples: z.number().int().nonnegative(),
    }),
  ),
});

type Ratios = Readonly<Record<string, TokenRatio>>;

export interface TokenRatios {
  /** Measured / estimated tokens of "provider/id"; 1 as long as nothing was counted. */
  ratio(agentId: string, model: string): Promise<TokenRatio>;
  /**
   * Learns from the calls of one turn. A file that cannot be written is logged, and what was
   * learned lasts until the process ends.
   */
  learn(agentId: string, report: Pick<TurnReport, "model" | "modelCalls">): Promise<void>;
}

// A smaller change decides nothing and is not worth a write after each turn.
const LEAST_CHANGE = 0.01;

export function createTokenRatios({ home, log }: { home: string; log: LogPort }): TokenRatios {
  const file = (agentId: string) => join(home, "agents", agentId, "token-ratios.json");
  const known = new Map<string, Promise<{ now: Ratios; stored: Ratios }>>();
  const load = (agentId: string) => {
    const loading =
      known.get(agentId) ??
      readRatios(file(agentId)).then((ratios) => ({ now: ratios, stored: ratios }));
    known.set(agentId, loading);
    return loading;
  };
  return {
    ratio: async (agentId, model) => of((await load(agentId)).now, model),
    async learn(agentId, report) {
      const ratios = await load(agentId);
      const model = report.model.resolved;
      const before = of(ratios.now, model);
      const learned = learnFrom(before, report);
      if (learned === before) return;
      ratios.now = { ...ratios.now, [model]: learned };
      const stored = of(ratios.stored, model);
      if (stored.samples > 0 && Math.abs(learned.ratio - stored.ratio) < LEAST_CHANGE) return;
      ratios.stored = ratios.now;
      try {
        await makeOwnFolder(home, dirname(file(agentId)));
        await writeOwn(file(agentId), `${toJson({ v: 1, models: ratios.stored }, null, 2)}\n`);
      } catch (error) {
        log.warn(
          `${file(agentId)} could not be written: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    },
  };
}

/**
 * Pure. A call that failed, was cut off or went to another model says nothing; one that the
 * provider counted and that does not fit says that it is more than was thought.
 */
export function learnFrom(
  known: TokenRatio,
  { modelCalls }: Pick<TurnReport, "modelCalls">,
): TokenRatio {
  return modelCalls.reduce((ratio, call) => {
    const { system, tools, messages, usage, error, failure, stopReason, model } = call;
    const told = usage === null ? failure?.promptTokens : promptTokensOf(usage);
    if (told === undefined || model !== undefined) return ratio;
    const fixed = [...system, ...tools].reduce((sum, { tokens }) => sum + tokens, 0);
    const estimated = fixed + messages.tokens;
    const answered = error === null && stopReason !== "error" && stopReason !== "aborted";
    const wasMore = failure?.kind === "overflow" && told > ratio.ratio * estimated;
    return learnRatio(ratio, { measured: told, estimated, usable: answered || wasMore });
  }, known);
}

const of = (ratios: Ratios, model: string): TokenRatio =>
  (Object.hasOwn(ratios, model) ? ratios[model] : undefined) ?? UNKNOWN_RATIO;

/** A file that is missing or cannot be understood is learned again. */
async function readRatios(file: string): Promise<Ratios> {
  try {
    return FileSchema.parse(fromJson(await readFile(file, "utf8"))).models;
  } catch {
    return {};
  }
}
