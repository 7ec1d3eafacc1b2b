// The settings of model servers, `models.providers.<id>`.
import { z } from "zod";

const price = z.number().nonnegative();

export const ModelConfigSchema = z.object({
  id: z.string().min(1).describe("The name the server knows."),
  name: z.string().optional(),
  contextWindow: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Tokens of prompt and reply together."),
  maxTokens: z.number().int().positive().optional().describe("Tokens of one reply."),
  reasoning: z.boolean().optional(),
  input: z.array(z.enum(["text", "image", "audio", "video"])).optional(),
  cost: z
    .looseObject({
      input: price.optional(),
      output: price.optional(),
      cacheRead: price.optional(),
      cacheWrite: price.optional(),
    })
    .optional()
    .describe("US dollars per million tokens."),
  api: z.string().optional(),
});

export const ProviderConfigSchema = z.object({
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Up to and including the version path."),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how a setting names a variable.
  apiKey: z.string().optional().describe('The key, or "${NAME}" to read it from the environment.'),
  api: z
    .string()
    .optional()
    .describe(
      'Wire protocol; unset = the provider\'s usual one that can be spoken, else "openai-completions".',
    ),
  headers: z.record(z.string(), z.string()).optional(),
  models: z
    .array(ModelConfigSchema)
    .default([])
    .describe("Its models; none = any name is accepted with default limits."),
});
export type ModelConfig = z.infer<typeof ModelConfigSchema>;
export type ProviderConfig = z.infer<typeof ProviderConfigSchema>;

export const ModelsConfigSchema = z.object({
  mode: z
    .string()
    .optional()
    .describe("OpenClaw's merge mode; Clew always merges with the servers it knows."),
  providers: z
    .record(z.string().min(1), ProviderConfigSchema)
    .default({})
    .describe("Model servers by name."),
});
export type ModelsConfig = z.infer<typeof ModelsConfigSchema>;
