// One model call as hosts and providers agree on it.
import type { AgentMessage, AssistantMessage, ToolCallBlock, Usage } from "./message.ts";
import type { ModelProfile } from "./profile.ts";

/** A tool as the model is told of it. */
export interface ToolDefinition {
  /** What the model calls it by. */
  name: string;
  /** What the model decides by. */
  description: string;
  /** JSON Schema of the arguments object. */
  parameters: Record<string, unknown>;
}

/** Which model answers, by which wire, and how much it holds. */
export interface ModelRef {
  /** Who serves it, e.g. "openai"; with `id` it is the "provider/model" of settings. */
  provider: string;
  /** Wire protocol, e.g. "openai-completions". */
  api: string;
  /** The model's id, as its provider knows it. */
  id: string;
  /** Tokens of prompt and reply together. */
  contextWindow: number;
  /**
   * Which setting says the window, where it is only assumed: told to whoever it is too small for.
   * Absent: the window is known.
   */
  windowSetting?: string;
  /** Tokens of one reply. */
  maxOutputTokens: number;
  /** False: images are replaced by text before sending. Absent: true. */
  acceptsImages?: boolean;
  /** True: it thinks before it answers. Absent: not known; a policy may tell by the id. */
  reasoning?: boolean;
  /**
   * How long the provider keeps a prompt cached after its last use, ms; for predicting cache hits
   * and their cost, it turns nothing on. Absent: not known, or not in a way worth planning for.
   */
  cacheTtlMs?: number;
  /**
   * Fingerprint of the account that is asked, as in `AssistantMessage.account`. Absent: not known,
   * and taken for the same as any.
   */
  account?: string;
  /**
   * What is known of the model on its route, with what the host's configuration says differently.
   * Absent: what the catalogue says of provider, api and id.
   */
  profile?: ModelProfile;
}

/** How hard a model thinks, in the words most providers share; each takes the nearest it knows. */
export type ReasoningEffort = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** What is asked about a model's thinking. */
export interface ReasoningRequest {
  /** "off" asks for none, which some models cannot grant. Absent: the provider's default. */
  effort?: ReasoningEffort;
  /** Tokens it may think, for models that take a number; wins over `effort` there. Absent: none. */
  budgetTokens?: number;
  /**
   * What is told of it: "full" what was thought · "summary" a summary of it · "none" nothing,
   * though it goes back to the model all the same. Absent: the provider's default.
   */
  display?: "full" | "summary" | "none";
}

/** What is asked of the provider's prompt cache. */
export interface CacheRequest {
  /**
   * How long the prompt is to be kept: "none" not at all · "short" the provider's shortest time ·
   * "long" its longest, which may cost more to write.
   */
  retention: "none" | "short" | "long";
  /**
   * How many messages, from the first on, the caller expects to send unchanged for a long time: a
   * summary, for example. Absent: none in particular; the whole history is expected to grow at its
   * end.
   */
  stableMessages?: number;
}

/** What the provider itself may do about a long history; nothing unless it is asked for. */
export interface ServerContext {
  /** It clears old tool results above so many tokens of prompt. Absent: it does not. */
  clearToolResultsAbove?: number;
  /** It compacts above so many tokens of prompt. Absent: it does not. */
  compactAbove?: number;
}

/**
 * Which tools the model may use now: "auto" any or none · "none" none · "required" at least one ·
 * or the one with this name.
 */
export type ToolChoice = "auto" | "none" | "required" | { name: string };

/** The form of the reply's text: plain, some JSON, or JSON that fits a schema. */
export type ResponseFormat =
  | { type: "text" }
  | { type: "json" }
  | {
      type: "json_schema";
      /** Letters, digits, "_" and "-", at most 64: some providers want one. */
      name: string;
      /** JSON Schema of the reply. */
      schema: Record<string, unknown>;
    };

/** One call of a model, with everything it is shown. */
export interface ModelCall {
  /** Who shall answer. */
  model: ModelRef;
  /** Blank: none is sent. */
  systemPrompt: string;
  /** Oldest first, already in the form the provider accepts. */
  messages: readonly AgentMessage[];
  /** What it may call; empty: nothing. */
  tools: readonly ToolDefinition[];
  /** Tokens of the reply. Absent: the provider's own limit. */
  maxOutputTokens?: number;
  /** As the provider understands it. Absent: the provider's default. */
  temperature?: number;
  /** Ends the call; what had arrived is kept. */
  signal: AbortSignal;
  /** Absent: the provider's default. */
  reasoning?: ReasoningRequest;
  /** Absent: "auto". Nothing is sent without tools. */
  toolChoice?: ToolChoice;
  /** False: one call of a tool per reply. Absent: the provider's default, mostly several. */
  parallelToolCalls?: boolean;
  /** Absent: the driver's default for its provider. */
  cache?: CacheRequest;
  /** Absent: the history is the caller's alone. Providers that offer nothing of it pass it over. */
  serverContext?: ServerContext;
  /** Absent: plain text. */
  responseFormat?: ResponseFormat;
  /** The provider's own name of a class of service, e.g. "flex". Absent: its default. */
  serviceTier?: string;
  /**
   * The provider's id of the session's last reply, which it may compare this call with to say why
   * its cache was missed. Absent: nothing is compared.
   */
  previousResponseId?: string;
  /** Stable per session: lets a provider route to a warm prompt cache. Absent: it cannot. */
  sessionId?: string;
  /** How often a call that was not answered may be repeated. Absent: the port's own limit. */
  maxRetries?: number;
  /**
   * Told before each repetition of the call, and waited for: an answer is a sentence that says why
   * it is not repeated, and ends the call. Absent: repeated in silence.
   */
  onRetry?: (retry: RetriedCall) => string | undefined | Promise<string | undefined>;
}

/** A try of a call that failed, and after how many ms it is made again. */
export interface RetriedCall {
  /** Why it failed. */
  error: ModelError;
  /** Until it is repeated, ms. */
  delayMs: number;
  /** What it came to, where whoever counts calls estimated it. Absent: nothing, or nobody did. */
  estimated?: Usage;
}

/** What a host chooses about calls, whatever they are about. */
export type CallAsk = Pick<
  ModelCall,
  | "maxOutputTokens"
  | "temperature"
  | "reasoning"
  | "cache"
  | "serviceTier"
  | "parallelToolCalls"
  | "serverContext"
>;

/** Why a call failed, as data: hosts decide by `kind`, people read `message`. */
export type ModelError = {
  message: string;
  /** HTTP status. Absent: there was no answer, or it was no HTTP. */
  status?: number;
  /** No request reached a server, so nobody bills one. Absent: one may have. */
  unsent?: true;
} & (
  | {
      kind: "overflow";
      /** Tokens the provider counted. Absent: it did not say. */
      observedTokens?: number;
      /** Of those: the prompt alone. Absent: it did not say. */
      promptTokens?: number;
      /** Tokens the provider says the model holds. Absent: it did not say. */
      windowTokens?: number;
    }
  | {
      kind: "rate_limited";
      /** How long the provider asks to wait, ms. Absent: it did not say. */
      retryAfterMs?: number;
    }
  /** The provider has too much to do now. */
  | { kind: "overloaded" }
  /** The provider failed by itself. */
  | { kind: "unavailable" }
  /** It could not be reached, or the connection broke. */
  | { kind: "network" }
  /** It was waited for long enough. */
  | { kind: "timeout" }
  /** The key does not let the caller in. */
  | { kind: "auth" }
  /** Somebody has to pay first. */
  | { kind: "billing" }
  /** There is no such model, or nothing at that address. */
  | { kind: "not_found" }
  /** The provider does not answer this. */
  | { kind: "refused" }
  /** Thinking that was sent back is not taken: another prefix, model or account. */
  | { kind: "signature" }
  /** Encrypted parts that were sent back cannot be read. */
  | { kind: "encrypted_content" }
  /** A tool call without its one result, or a result without its call. */
  | { kind: "pairing" }
  /** Thinking is wanted back, and did not come. */
  | { kind: "reasoning_required" }
  /** What was asked of the prompt cache is not taken. */
  | { kind: "cache_rejected" }
  /** Anything else about the request. */
  | { kind: "invalid_request" }
  /** What came is no reply. */
  | { kind: "invalid_response" }
  /** The caller ended it. */
  | { kind: "aborted" }
);

/** What a provider says of a call besides its reply. */
export interface ProviderTold {
  /** Why part of the prompt did not come from its cache. Absent: all of it did, or nobody said. */
  cacheMiss?: {
    /** Its own word. */
    reason: string;
    /** Tokens that were missed. Absent: it did not say. */
    tokens?: number;
  };
  /** What it changed before the model read the request, in its own words. Absent: nothing. */
  changes?: string[];
}

/** What a call streams; the last event is `done` or `error`, exactly one of them. */
export type StreamEvent =
  | { type: "text"; delta: string }
  | { type: "thinking"; delta: string }
  | { type: "tool_call"; call: ToolCallBlock }
  | {
      type: "done";
      message: AssistantMessage;
      /** What the provider said besides. Absent: nothing. */
      told?: ProviderTold;
      /** What the call asked and the request did not, and why, in words. Absent: nothing. */
      leftOut?: readonly string[];
      /**
       * What it came to, where its provider did not count it and whoever counts calls estimated
       * it. Absent: it was counted, or nobody did.
       */
      estimated?: Usage;
    }
  /** `partial` holds what had arrived, with stopReason "error" or "aborted". */
  | {
      type: "error";
      error: ModelError;
      partial: AssistantMessage;
      /** What it came to, where whoever counts calls estimated it. Absent: nobody did. */
      estimated?: Usage;
    };

/** The usage of a message no provider was billed for. */
export const ZERO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
};
