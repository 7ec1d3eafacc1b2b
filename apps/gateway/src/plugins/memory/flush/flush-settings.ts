// Joins what a memory plugin and the settings say of its flush.
import type { MemoryFlushPlan } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { bytesIn, type MemoryFlushConfig } from "../../../config/memory-flush.ts";

export interface FlushSettings {
  prompt: string;
  systemPrompt: string | undefined;
  /** The only file that may be written, below the workspace; undefined = none. */
  relativePath: string | undefined;
  softThresholdTokens: number;
  forceFlushTranscriptBytes: number;
  timeoutMs: number;
}

export const DEFAULT_SOFT_TOKENS = 4_000;
export const DEFAULT_FORCE_BYTES = 2 * 2 ** 20;

/** What a model says that has nothing to store. */
export const SILENT_REPLY = "NO_REPLY";

const PROMPT =
  "Before older parts of this conversation are left out: store what should still be known later (decisions, facts, preferences, open ends) with the tools you have, shortly and without what is stored already.";
const SILENT = `Nobody reads your answer. When there is nothing to store, or all is stored, answer only ${SILENT_REPLY}.`;

/** Pure. What the settings say goes first; undefined: nothing is to be asked. */
export function planFlushSettings(
  given: MemoryFlushPlan | null | undefined,
  config: MemoryFlushConfig,
): FlushSettings | undefined {
  if (!config.enabled || !isRecord(given)) return undefined;
  const plan = given as MemoryFlushPlan;
  const relativePath = textOf(plan.relativePath);
  const where =
    relativePath === undefined
      ? ""
      : ` write_file adds to the end of ${relativePath}, the only file that can be written.`;
  const prompt = `${textOf(config.prompt) ?? textOf(plan.prompt) ?? PROMPT}${where}`;
  return {
    prompt: prompt.includes(SILENT_REPLY) ? prompt : `${prompt}\n${SILENT}`,
    systemPrompt: textOf(config.systemPrompt) ?? textOf(plan.systemPrompt),
    relativePath,
    softThresholdTokens:
      config.softThresholdTokens ?? numberOf(plan.softThresholdTokens) ?? DEFAULT_SOFT_TOKENS,
    forceFlushTranscriptBytes:
      bytesIn(config.forceFlushTranscriptBytes) ??
      numberOf(plan.forceFlushTranscriptBytes) ??
      DEFAULT_FORCE_BYTES,
    timeoutMs: config.timeoutSeconds * 1_000,
  };
}

const textOf = (given: unknown): string | undefined =>
  typeof given === "string" && given.trim() !== "" ? given.trim() : undefined;

const numberOf = (given: unknown): number | undefined =>
  typeof given === "number" && Number.isFinite(given) && given >= 0 ? given : undefined;
