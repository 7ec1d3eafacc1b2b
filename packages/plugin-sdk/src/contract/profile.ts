// What is recorded of one model on one route.
import type { ThinkingCarrier } from "./message.ts";

/**
 * What becomes of thinking when a history is sent again: "strip" none goes back · "tools" only that
 * of a tool turn that is still running · "keep" all of it may · "require" all of it must, and a
 * call without any says so by an empty one.
 */
export type ReasoningReplay = "strip" | "tools" | "keep" | "require";

/** Whose thinking a model reads besides its own. */
export interface ReadableProducers {
  /** Ids of providers whose proofs it takes as its own provider's. */
  readonly providers: readonly string[];
  /** Pattern of model ids, in lower case, whose proofs it takes as its own; null = of none. */
  readonly models: string | null;
  /** True: only what was written under the account that is asked. */
  readonly sameAccount: boolean;
}

/** How a model thinks, and what it wants back of it. */
export interface ReasoningProfile {
  /** What goes back. */
  readonly replay: ReasoningReplay;
  /** How, unless a block remembers its own carrier. */
  readonly carrier: ThinkingCarrier;
  /** Whose signed, encrypted or redacted thinking it takes; plain text is nobody's. */
  readonly reads: ReadableProducers;
  /** True: a proof holds only while everything before it stays as it was sent. */
  readonly boundToPrefix: boolean;
  /**
   * How a call asks for it: "effort" a word · "budget" tokens · "adaptive" the model decides,
   * within an effort · "level" Gemini's word · "none" not at all.
   */
  readonly ask: "effort" | "budget" | "adaptive" | "level" | "none";
  /** The words it knows, where it takes a word. Absent: all that its wire has. */
  readonly efforts?: readonly ("minimal" | "low" | "medium" | "high" | "xhigh" | "max")[];
  /** False: it cannot be told not to think. */
  readonly canStop: boolean;
}

/** What tool calls look like. */
export interface CallsProfile {
  /** Pattern of legal ids. */
  readonly ids: string;
  /** How an illegal or repeated id is replaced. */
  readonly idMode: "strict" | "strict9" | "responses";
  /** Pattern of legal tool names. */
  readonly names: string;
  /** False: a call may not be forced by a tool choice. */
  readonly canForce: boolean;
  /**
   * Whether a call carries a signature of the thought behind it: "never" · "kept" goes back where
   * there is one · "required" the first call of each step is refused without.
   */
  readonly signed: "never" | "kept" | "required";
  /** False: a reply that may hold calls is not streamed; it comes in one piece. */
  readonly streamed: boolean;
}

/** Who may speak after whom. */
export interface TurnsProfile {
  /** True: an assistant may not speak first. */
  readonly startsWithUser: boolean;
  /** False: an answer at the end would be taken for the start of the next one (a prefill). */
  readonly endsWithAssistant: boolean;
  /** True: such an answer is refused while the model is asked to think. */
  readonly thinkingForbidsPrefill: boolean;
  /** Who may not follow themselves. */
  readonly alternates: "nobody" | "assistants" | "everybody";
}

/** Which images it takes. */
export interface ImagesProfile {
  /** Null = any. */
  readonly mimeTypes: readonly string[] | null;
  /** Bytes after decoding. */
  readonly maxBytes: number;
  /** Pixels of the longer side; null = not known to be limited. */
  readonly maxSide: number | null;
  /** Images of one request; null = not known to be limited. */
  readonly maxCount: number | null;
  /** False: no result of a tool may hold one; they stand behind it. Absent: it may. */
  readonly inResults?: boolean;
}

/** How its provider caches prompts. */
export interface CacheProfile {
  /**
   * "automatic": it keeps prefixes by itself · "marks": up to the marks of a request only · "none":
   * not that anybody knows.
   */
  readonly how: "automatic" | "marks" | "none";
  /** Marks one request may hold; 0 = it takes none. */
  readonly marks: number;
  /** Shortest prefix that is kept, tokens; null = not known. */
  readonly minTokens: number | null;
  /** How long it keeps a prompt after its last use when asked for "short", ms; null = not known. */
  readonly shortMs: number | null;
  /** The same for "long"; null = it offers no choice. */
  readonly longMs: number | null;
}

/** How much it holds, tokens; null = not known. */
export interface LimitsProfile {
  /** Prompt and reply together. */
  readonly contextWindow: number | null;
  /** One reply. */
  readonly maxOutputTokens: number | null;
}

/** US dollars per million tokens. */
export interface CostProfile {
  /** Prompt that came from no cache. */
  readonly input: number;
  /** Reply, thinking included. */
  readonly output: number;
  /** Prompt out of the cache. */
  readonly cacheRead: number;
  /** Prompt into the cache, for the short time. */
  readonly cacheWrite: number;
  /** The same for the long time. Absent: as for the short one. */
  readonly cacheWriteLong?: number;
  /** What a call costs instead, whose prompt has more than `tokens`. Absent: the same. */
  readonly above?: { readonly tokens: number } & Omit<CostProfile, "above">;
}

/** Everything that depends on the model and its route, in groups. */
export interface ModelProfile {
  /** Its thinking. */
  readonly reasoning: ReasoningProfile;
  /** Its tool calls. */
  readonly calls: CallsProfile;
  /** The order of messages. */
  readonly turns: TurnsProfile;
  /** Images. */
  readonly images: ImagesProfile;
  /** The prompt cache. */
  readonly cache: CacheProfile;
  /** Sizes. */
  readonly limits: LimitsProfile;
  /** Prices; null = not known. */
  readonly cost: CostProfile | null;
  /** What was taken for granted because nobody recorded it, as sentences for people. */
  readonly assumed: readonly string[];
}

/** What one row, or a configuration, says differently; whatever it leaves out stays. */
export type ProfileChanges = {
  readonly [Group in Exclude<keyof ModelProfile, "assumed" | "cost">]?:
    | Changes<ModelProfile[Group]>
    | undefined;
} & {
  /** All prices at once. Absent: as they were. */
  readonly cost?: CostProfile;
};

type Changes<Group> = { readonly [Field in keyof Group]?: Group[Field] | undefined };

/** Which routes a row is about: every part that it has must fit. */
export interface ProfileMatch {
  /** Provider ids. Absent: any. */
  readonly providers?: readonly string[];
  /** Apis by name. Absent: any. */
  readonly apis?: readonly string[];
  /** Pattern of model ids, in lower case. Absent: any. */
  readonly models?: RegExp;
  /** Marked as a model that thinks, or not. Absent: either. */
  readonly reasoning?: boolean;
}

/** One row of the table. */
export interface ProfileRow {
  /** Where it holds. */
  readonly when: ProfileMatch;
  /** What holds there. */
  readonly set: ProfileChanges;
}
