// What a transcript policy may ask for: the flags that drive the passes, and what they are when nobody says otherwise.

/** Which tool-call ids are accepted: letters and digits up to 40, or exactly nine of them. */
export type ToolCallIdMode = "strict" | "strict9";

/** What one provider requires of a replayed history. */
export interface TranscriptPolicy {
  /** Kept for readers of older configurations: both values do the same. */
  sanitizeMode: "images-only" | "full";
  /** Ids are rewritten in the form `toolCallIdMode` names; never on Responses apis, whose pairs of ids have a form of their own. */
  sanitizeToolCallIds: boolean;
  toolCallIdMode?: ToolCallIdMode;
  /** "openai": the first `call_*` id stays and repeats become fresh `call_*` ids. */
  duplicateToolCallIdStyle?: "openai";
  /** The first use of a `toolu_*` id stays as it is. */
  preserveNativeAnthropicToolUseIds: boolean;
  /** Every call gets exactly one result, right behind it. */
  repairToolUseResultPairing: boolean;
  /** Signatures of any kind stay; unsigned thinking goes. */
  preserveSignatures: boolean;
  /** Which thought signatures stay; absent = all but the ids of text items. */
  sanitizeThoughtSignatures?: { allowBase64Only: boolean; includeCamelCase: boolean };
  /** Kept for readers of older configurations: nobody sets it. */
  sanitizeThinkingSignatures: boolean;
  /** Thinking is removed from all but the last assistant message. */
  dropThinkingBlocks: boolean;
  /** Thinking is removed from all but a running tool turn. */
  dropReasoningFromHistory: boolean;
  /** A history that starts with an assistant gets a user turn in front. */
  applyGoogleTurnOrdering: boolean;
  /** Assistant messages in a row are merged. */
  validateGeminiTurns: boolean;
  /** Assistants and users in a row are merged, and calls no result follows removed. */
  validateAnthropicTurns: boolean;
  /** For the session-write guard: pending calls are flushed with made-up results. The passes do not read it. */
  allowSyntheticToolResults: boolean;
  /** Thinking without a base64 signature is removed; other spellings of the signature are renamed. */
  normalizeAntigravityThinkingBlocks: boolean;
  /** Thinking is removed from every assistant message, the last one too. */
  dropAllThinkingBlocks: boolean;
  /** The provider checks the signature of thinking blocks, whatever `preserveSignatures` says. */
  verifiesThinkingSignatures: boolean;
  /** The host notes once per session that a user turn was put in front. */
  recordsBootstrap: boolean;
}

/** What holds when neither provider nor api asks for more. */
export const DEFAULT_POLICY = {
  sanitizeMode: "images-only",
  sanitizeToolCallIds: false,
  preserveNativeAnthropicToolUseIds: false,
  repairToolUseResultPairing: true,
  preserveSignatures: false,
  sanitizeThinkingSignatures: false,
  dropThinkingBlocks: false,
  dropReasoningFromHistory: false,
  applyGoogleTurnOrdering: false,
  validateGeminiTurns: false,
  validateAnthropicTurns: false,
  allowSyntheticToolResults: false,
  normalizeAntigravityThinkingBlocks: false,
  dropAllThinkingBlocks: false,
  verifiesThinkingSignatures: false,
  recordsBootstrap: false,
} as const satisfies TranscriptPolicy;

/** The flags in which a provider differs from the defaults. */
export type PolicyFlags = Partial<TranscriptPolicy>;

/** What is known of a model beyond its name. */
export interface ModelTraits {
  reasoning?: boolean;
  compat?: { supportsReasoningEffort?: boolean };
}

/** Where a history is going: which provider, by which wire, to which model. */
export interface Route {
  provider: string;
  /** Wire protocol, e.g. "openai-completions". */
  modelApi: string;
  modelId: string;
  model?: ModelTraits;
}

/** Flags that differ from the defaults; a function when they depend on the route. Undefined = "ask by api instead". */
export type ProviderPolicy = PolicyFlags | ((route: Route) => PolicyFlags | undefined);

/** Policies of a host or plugin, by provider id; each is laid over what the table says for that provider. */
export type ProviderPolicies = Readonly<Record<string, ProviderPolicy>>;
