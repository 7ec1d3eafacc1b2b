// The settings of agents, `agents.defaults` and `agents.list`.
import { z } from "zod";
import { isSafeId } from "../sessions/keys.ts";
import { CompactionConfigSchema } from "./compaction.ts";
import { ContextPruningSchema } from "./pruning.ts";

const modelName = z
  .string()
  .regex(/^[^/\s]+\/\S+$/, 'must be "provider/model", e.g. "ollama/qwen3:8b"')
  .describe('Which model answers, as "provider/model".');

/** A name alone is short for `{ primary }`. */
const ModelChoiceSchema = z.union([
  modelName.transform((primary) => ({ primary })),
  z.object({ primary: modelName }),
]);

export const AgentDefaultsSchema = z.object({
  model: ModelChoiceSchema.prefault({ primary: "offline/offline" }).describe(
    "The model, or its name alone.",
  ),
  workspace: z
    .string()
    .min(1)
    .optional()
    .describe("Folder the read-only tools may see; unset = agents/<id>/workspace in CLEW_HOME."),
  contextTokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Caps the model's context window, tokens."),
  systemPrompt: z.string().optional().describe("Replaces the built-in system prompt."),
  timeoutSeconds: z.number().int().positive().default(600).describe("Longest run."),
  maxModelCalls: z.number().int().positive().default(200).describe("Most model calls in one turn."),
  imageMaxDimensionPx: z
    .number()
    .int()
    .positive()
    .default(1200)
    .describe("Longest side of an image sent to a model."),
  compaction: CompactionConfigSchema.prefault({}),
  contextPruning: ContextPruningSchema.optional().describe(
    "Which old tool results the model sees shortened.",
  ),
});

export const AgentSchema = z.object({
  id: z.string().refine(isSafeId, "must be letters, digits, dots, dashes or underscores"),
  name: z.string().optional(),
  default: z.boolean().optional().describe("Answers when no agent is named."),
  model: ModelChoiceSchema.optional(),
  workspace: z.string().min(1).optional(),
});

export const AgentsConfigSchema = z.object({
  defaults: AgentDefaultsSchema.prefault({}),
  list: z
    .array(AgentSchema)
    .default([])
    .describe('Agents that differ from the defaults; without one there is the agent "main".'),
});
export type AgentsConfig = z.infer<typeof AgentsConfigSchema>;
