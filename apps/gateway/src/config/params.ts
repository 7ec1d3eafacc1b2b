// The settings of what calls ask of a model, `params` and `thinkingDefault`.
import { z } from "zod";

/** The levels that `/think` and `thinkingDefault` know. */
export const THINKING_LEVELS = [
  "off",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
  "adaptive",
] as const;

/** "adaptive" leaves it to the model. */
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

export const ThinkingLevelSchema = z.enum(THINKING_LEVELS);

export const ParamsSchema = z.object({
  cacheRetention: z
    .enum(["none", "short", "long"])
    .optional()
    .describe(
      "How long the provider shall keep prompts: not at all, its shortest time, or its longest, which may cost more to write; unset = the shortest.",
    ),
  serviceTier: z
    .string()
    .min(1)
    .optional()
    .describe('The provider\'s own name of a class of service, e.g. "flex" or "priority".'),
  temperature: z.number().min(0).max(2).optional().describe("Unset = the provider's default."),
  maxTokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Tokens of one reply; unset = the model's `maxTokens`."),
  parallelToolCalls: z
    .boolean()
    .optional()
    .describe("False: one call of a tool per reply; unset = the provider's default."),
  clearToolResultsAbove: z
    .number()
    .int()
    .positive()
    .optional()
    .describe(
      "Above so many tokens of prompt the provider clears old tool results itself, where it offers that (Anthropic); unset = it does not.",
    ),
  compactAbove: z
    .number()
    .int()
    .positive()
    .optional()
    .describe(
      "Above so many tokens of prompt the provider compacts the history itself, where it offers that (Anthropic, from 50,000 on, and OpenAI); unset = it does not.",
    ),
  thinking: ThinkingLevelSchema.optional().describe(
    'How hard the model thinks; wins over the agents\' "thinkingDefault".',
  ),
});
export type Params = z.infer<typeof ParamsSchema>;
