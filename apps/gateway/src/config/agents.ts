// The settings of agents, `agents.defaults` and `agents.list`.
import { z } from "zod";
import { isSafeId } from "../sessions/keys.ts";
import { CompactionConfigSchema, OwnCompactionSchema } from "./compaction.ts";
import { EMBEDDED_HARNESS, harnessName } from "./harness.ts";
import { ParamsSchema, ThinkingLevelSchema } from "./params.ts";
import { ContextPruningSchema } from "./pruning.ts";
import { SubagentsConfigSchema } from "./subagents.ts";

const modelName = z
  .string()
  .regex(/^[^/\s]+\/\S+$/, 'must be "provider/model", for example "ollama/qwen3:8b"')
  .describe('Which model answers, as "provider/model".');

const fallbacks = z
  .array(modelName)
  .optional()
  .describe(
    "Who answers where the primary model cannot, in order; unset for an agent = those of the defaults, [] = nobody.",
  );

/** A name alone is short for `{ primary }`. */
const ModelChoiceSchema = z.union([
  modelName.transform((primary): z.infer<typeof ModelChainSchema> => ({ primary })),
  z.object({ primary: modelName, fallbacks }),
]);
const ModelChainSchema = z.object({ primary: modelName, fallbacks });

const shadowEngine = z.string().trim().min(1).optional();

export const AgentDefaultsSchema = z.object({
  model: ModelChoiceSchema.prefault({ primary: "offline/offline" }).describe(
    'The model that answers, as "provider/model".',
  ),
  models: z
    .record(
      modelName,
      z.object({
        params: ParamsSchema.optional().describe("What calls of this model ask of it."),
      }),
    )
    .default({})
    .describe('What differs for one model, by "provider/model".'),
  params: ParamsSchema.optional().describe("What calls ask of every model."),
  thinkingDefault: ThinkingLevelSchema.optional().describe(
    'How hard models think, unless "/think" says otherwise; unset = as the provider does.',
  ),
  workspace: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Folder in which an agent's tools work, one for all that name none of their own; unset = each has agents/<id>/workspace in CLEW_HOME.",
    ),
  contextTokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Caps the model's context window, in tokens."),
  systemPrompt: z.string().optional().describe("Replaces the built-in system prompt."),
  timeoutSeconds: z
    .number()
    .int()
    .positive()
    .default(600)
    .describe("How long a run may take, in seconds."),
  maxModelCalls: z
    .number()
    .int()
    .positive()
    .default(200)
    .describe("How many model calls one turn may make."),
  imageMaxDimensionPx: z
    .number()
    .int()
    .positive()
    .default(1200)
    .describe("Longest side of an image that is sent to a model, in pixels."),
  compaction: CompactionConfigSchema.prefault({}),
  subagents: SubagentsConfigSchema.prefault({}).describe("Sessions that sessions start."),
  shadowEngine: shadowEngine.describe(
    "A second context engine, by id, that is handed every turn once it is over, to be compared; nothing of it reaches a model or a reply. Unset = none.",
  ),
  harness: harnessName.default(EMBEDDED_HARNESS),
  contextPruning: ContextPruningSchema.optional().describe(
    "Which old tool results the model sees shortened.",
  ),
});

export const AgentSchema = z.object({
  id: z
    .string()
    .refine(isSafeId, "must be letters, digits, dots, dashes or underscores")
    .describe("Names the agent in session keys and folders."),
  name: z.string().optional().describe("A name for people."),
  default: z.boolean().optional().describe("True: this agent answers when none is named."),
  model: ModelChoiceSchema.optional().describe("Its model; unset = the default one."),
  params: ParamsSchema.optional().describe(
    "What its calls ask of any model; wins over the defaults, key by key.",
  ),
  thinkingDefault: ThinkingLevelSchema.optional().describe(
    "How hard its models think; unset = as the defaults say.",
  ),
  workspace: z.string().min(1).optional().describe("Its own folder; unset = as the defaults say."),
  engine: z
    .string()
    .trim()
    .min(1)
    .optional()
    .describe("Its context engine, by id; unset = the one of plugins.slots.contextEngine."),
  shadowEngine: shadowEngine.describe(
    'Its shadow engine, by id; unset = as the defaults say, "none" = none.',
  ),
  harness: harnessName
    .optional()
    .describe("Which program runs its turns; unset = as the defaults say."),
  contextTokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Caps its models' context windows, in tokens; unset = as the defaults do."),
  compaction: OwnCompactionSchema.optional().describe(
    "What differs in its compaction; wins over the defaults, key by key.",
  ),
});

export const AgentsConfigSchema = z.object({
  defaults: AgentDefaultsSchema.prefault({}),
  list: z
    .array(AgentSchema)
    .default([])
    .describe('Agents that differ from the defaults; without one there is the agent "main".'),
});
export type AgentsConfig = z.infer<typeof AgentsConfigSchema>;
