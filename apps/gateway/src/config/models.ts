// The settings of model servers, `models.providers.<id>`.
import { ProfileChangesSchema, secretsInAddress } from "@clew/plugin-sdk/host";
import { FLAVORS } from "@clew/providers";
import { z } from "zod";
import { HeadersSchema } from "./headers.ts";

const price = z.number().nonnegative();

/** An address is shown and kept with sessions, so nothing may stand in it that is a secret. */
const hasNoSecret = (address: string): boolean => secretsInAddress(address).length === 0;
const NO_SECRETS =
  "The address holds a key or a password, which would be shown wherever the address is; take it out, and put it into apiKey, the environment or headers.";
/** Where a login is asked for. */
const address = z.url().refine(hasNoSecret, NO_SECRETS).optional();

export const ModelConfigSchema = z.object({
  id: z.string().min(1).describe("The name the server knows."),
  name: z.string().optional().describe("A name for people."),
  contextWindow: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Tokens of prompt and reply together."),
  maxTokens: z.number().int().positive().optional().describe("Tokens of one reply."),
  reasoning: z.boolean().optional().describe("Whether the model reasons before it answers."),
  input: z
    .array(z.enum(["text", "image", "audio", "video"]))
    .optional()
    .describe("What the model accepts as input."),
  cost: z
    .looseObject({
      input: price.optional().describe("US dollars per million tokens of input."),
      output: price.optional().describe("US dollars per million tokens of output."),
      cacheRead: price.optional().describe("US dollars per million tokens read from a cache."),
      cacheWrite: price.optional().describe("US dollars per million tokens written to a cache."),
    })
    .optional()
    .describe("US dollars per million tokens."),
  api: z.string().optional().describe("Wire protocol of this model; unset = the server's."),
  profile: ProfileChangesSchema.optional().describe(
    "What is different about this model from what Clew's catalogue says of it.",
  ),
});

export const ProviderConfigSchema = z.object({
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .refine(hasNoSecret, NO_SECRETS)
    .optional()
    .describe("Address of the server, up to and including the version path."),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how a setting names a variable.
  apiKey: z.string().optional().describe('The key, or "${NAME}" to read it from the environment.'),
  apiKeyCommand: z
    .union([z.string().min(1), z.array(z.string()).min(1)])
    .optional()
    .describe(
      'A program that prints the key: its name and arguments, or a line for the shell. It is asked again before the key ends, which JSON with "token" and "expiresAt" tells; else after five minutes.',
    ),
  apiKeyCommandSeconds: z
    .number()
    .positive()
    .optional()
    .describe("Longest such a program may take; unset = 30."),
  aws: z
    .object({
      profile: z.string().min(1).optional().describe("A profile of AWS's own files."),
      region: z.string().min(1).optional().describe("Where requests go, e.g. eu-west-1."),
      ssoEndpoint: address.describe("Where SSO gives out keys; unset = AWS's address."),
      ssoOidcEndpoint: address.describe("Where SSO renews a login; unset = AWS's address."),
      stsEndpoint: address.describe("Where roles are taken on; unset = AWS's address."),
    })
    .optional()
    .describe("Signs requests with an AWS login; for Amazon Bedrock it need not be set."),
  google: z
    .object({
      credentialsFile: z.string().min(1).optional().describe("A file of Google credentials."),
      project: z.string().min(1).optional().describe("Project that is billed."),
      location: z.string().min(1).optional().describe("Where requests go; unset = global."),
      metadataServer: z
        .boolean()
        .optional()
        .describe("Whether the machine's own account may be asked for, on Google Cloud."),
      tokenEndpoint: address.describe("Where tokens are given out; unset = Google's address."),
    })
    .optional()
    .describe("Uses a Google Cloud login; for Vertex it need not be set."),
  api: z
    .string()
    .optional()
    .describe(
      'Wire protocol; unset = the usual one of the provider if Clew speaks it, else "openai-completions".',
    ),
  flavor: z
    .enum(FLAVORS)
    .optional()
    .describe(
      "Whose dialect of the wire protocol the server speaks, for proxies: a provider by name, or a dialect of Chat Completions; unset = told from its address.",
    ),
  timeoutSeconds: z
    .number()
    .positive()
    .max(86_400)
    .optional()
    .describe(
      "Longest silence of the server, before its answer and in the middle of it; unset = 240. A slow model of your own with a long prompt may need more.",
    ),
  headers: HeadersSchema.optional().describe("Headers to send with every request."),
  project: z
    .string()
    .optional()
    .describe('Google Cloud project that pays; only "google-gemini-cli" asks for it.'),
  models: z
    .array(ModelConfigSchema)
    .default([])
    .describe("Its models; empty = any name is accepted, with default limits."),
});
export type ModelConfig = z.infer<typeof ModelConfigSchema>;
export type ProviderConfig = z.infer<typeof ProviderConfigSchema>;

export const ModelsConfigSchema = z.object({
  mode: z
    .string()
    .optional()
    .describe(
      "OpenClaw's merge mode, which changes nothing here: Clew always adds these servers to those it knows.",
    ),
  providers: z
    .record(z.string().min(1), ProviderConfigSchema)
    .default({})
    .describe("Model servers by name."),
});
export type ModelsConfig = z.infer<typeof ModelsConfigSchema>;
