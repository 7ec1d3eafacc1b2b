// The settings of the door, by which clients of model APIs come in, `door`.
import { z } from "zod";

/** Wires that the door speaks, by the names of their drivers. */
export const DOOR_APIS = [
  "openai-completions",
  "openai-responses",
  "anthropic-messages",
  "google-generative-ai",
] as const;

export const UpstreamConfigSchema = z.object({
  provider: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Where its requests go: a name of models.providers, or of a provider that Clew knows; unset = the default model's if it speaks this wire, else the first of models.providers that does, else the wire's own.",
    ),
  model: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The model that is asked where a client names one that the provider does not list; unset = the default model, or the first listed.",
    ),
  models: z
    .record(z.string(), z.string())
    .default({})
    .describe(
      'Models to ask instead of those that clients name, by the clients\' names; "provider/model" = at another provider, by its own wire if it speaks another one.',
    ),
  key: z
    .enum(["gateway", "client"])
    .optional()
    .describe("Whose key is sent; unset = the gateway's where it has one, else the client's."),
  contextWindow: z
    .number()
    .int()
    .min(1_024)
    .optional()
    .describe("Tokens of prompt and reply together; unset = what is known of the model."),
});
export type UpstreamConfig = z.infer<typeof UpstreamConfigSchema>;

export const DoorConfigSchema = z.object({
  enabled: z
    .boolean()
    .default(true)
    .describe("Whether clients of model APIs are answered, under /v1 and /v1beta."),
  mode: z
    .enum(["auto", "transparent", "session"])
    .default("auto")
    .describe(
      'Who owns the history: "transparent" = the client, which sends it each time, and Clew shortens it when it must; "session" = Clew; "auto" = Clew in requests that name a session, the client in all others.',
    ),
  agent: z
    .string()
    .min(1)
    .optional()
    .describe("The agent whose sessions the clients' are; unset = the default one."),
  recallTools: z
    .boolean()
    .default(false)
    .describe(
      "Whether clients' models are offered session_search and session_read, which Clew answers: in requests that name a session always, in others from when something was set aside to make room; their replies are held until they are whole.",
    ),
  session: z
    .object({
      name: z
        .string()
        .min(1)
        .default("main")
        .describe('The session of requests that name none, where the mode is "session".'),
      agentTools: z
        .boolean()
        .default(false)
        .describe(
          "Whether the model is offered the agent's own tools beside the client's, which Clew runs while the client waits.",
        ),
      toolWaitSeconds: z
        .number()
        .int()
        .positive()
        .max(86_400)
        .default(600)
        .describe("How long a turn waits for the results of a client's tools, in seconds."),
    })
    .prefault({})
    .describe("Requests that are answered in sessions whose history is Clew's."),
  upstreams: z
    .partialRecord(z.enum(DOOR_APIS), UpstreamConfigSchema)
    .default({})
    .describe("Where requests go, by wire."),
});
export type DoorConfig = z.infer<typeof DoorConfigSchema>;
