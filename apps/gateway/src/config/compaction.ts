// The settings of compaction, `agents.defaults.compaction`.
import {
  type CompactionOptions,
  CompactionOptionsSchema,
  keysWithoutEffect,
  type WaterConflict,
  waterConflicts,
} from "@clew/legacy-engine";
import { z } from "zod";
import { number } from "../text/number.ts";
import { MemoryFlushConfigSchema } from "./memory-flush.ts";

export { keysWithoutEffect, waterOf } from "@clew/legacy-engine";

/** What the built-in compaction knows, and what the gateway does before it. */
export const CompactionConfigSchema = CompactionOptionsSchema.extend({
  memoryFlush: MemoryFlushConfigSchema.prefault({}).describe(
    "What the chosen memory plugin stores before a compaction.",
  ),
});
export type CompactionConfig = z.infer<typeof CompactionConfigSchema>;

const withoutDefault = (schema: z.ZodType): z.ZodType => {
  const given = schema instanceof z.ZodDefault ? (schema.unwrap() as z.ZodType) : schema;
  return given.optional().describe(schema.description ?? "");
};

/** The same keys without their defaults, for one agent. */
export const OwnCompactionSchema = z.looseObject(
  Object.fromEntries(
    Object.entries(CompactionConfigSchema.shape).map(([key, schema]) => [
      key,
      withoutDefault(schema),
    ]),
  ),
) as unknown as z.ZodType<
  Partial<CompactionConfig>,
  Partial<z.input<typeof CompactionConfigSchema>>
>;

export const COMPACTION_SECTION = "agents.defaults.compaction";

/** True of a key that is accepted and changes nothing, which is told with its reason. */
export const isIdleKey = (path: string): boolean => whyIdle(path) !== undefined;

/** Why a setting changes nothing; undefined = it changes something, or is no such setting. */
export function whyIdle(path: string): string | undefined {
  const start = `${COMPACTION_SECTION}.`;
  if (!path.startsWith(start)) return undefined;
  return keysWithoutEffect({ [path.slice(start.length)]: true })[0]?.reason;
}

/** One sentence for each pair of marks that contradicts itself. */
export const describeWaterConflicts = (options: CompactionOptions): string[] =>
  waterConflicts(options).map(describeConflict);

function describeConflict({ model, lowWaterTokens, highWaterTokens }: WaterConflict): string {
  const section = model === "" ? COMPACTION_SECTION : `${COMPACTION_SECTION}.models["${model}"]`;
  return `${section}: lowWaterTokens (${number(lowWaterTokens)}) must be below highWaterTokens (${number(highWaterTokens)})`;
}
