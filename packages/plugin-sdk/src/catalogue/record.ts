// What the catalogue records of a provider and of an api.

/** The message formats there are: apis that share one differ in address and sign-in only. */
export type WireName =
  | "messages"
  | "converse"
  | "chat"
  | "responses"
  | "gemini"
  | "mistral"
  | "ollama"
  | "antigravity"
  | "offline";

/**
 * What a transcript must look like before it is sent; the policy package says what each stands for.
 */
export type PolicyFamily =
  | "native-messages"
  | "verified-thinking"
  | "signed-thinking"
  | "signed-or-compatible"
  | "native-gemini"
  | "gemini"
  | "passthrough"
  | "router"
  | "openai"
  | "compatible"
  | "chat"
  | "responses"
  | "nine-ids"
  | "unread-thinking";

/** A dialect of Chat Completions; the providers package says how each differs. */
export type ChatFlavorName = "compatible" | "openai" | "groq" | "deepseek" | "kimi" | "template";

/** One provider: everything the packages and a host need to know of it by name. */
export interface ProviderRecord {
  /** The part before the slash in "provider/model"; lower case. */
  readonly id: string;
  /** Other names it goes by; none of another provider. Default: none. */
  readonly aliases?: readonly string[];
  /** The apis it speaks, the usual one first. A host takes the first it has a driver for. */
  readonly apis: readonly [string, ...string[]];
  /** Where it answers, version path included; absent = every account or machine has its own. */
  readonly baseUrl?: string;
  /** What such an address of an own looks like, for people; parts to fill in are in capitals. */
  readonly addressLike?: string;
  /**
   * Environment variables that hold its key: the first that is set wins. Absent = it answers
   * without a key, or signs in some other way.
   */
  readonly needsKey?: readonly string[];
  /**
   * How it wants its key: "bearer" in `authorization`, "api-key" in a header of that name unless it
   * is a token. Absent: as the api has it.
   */
  readonly keyIn?: "bearer" | "api-key";
  /** Host names that are this provider; a leading dot stands for any subdomain. Default: none. */
  readonly hosts?: readonly string[];
  /** Its dialect of Chat Completions. Default: "compatible", the one most servers share. */
  readonly flavor?: ChatFlavorName;
  /**
   * How long it keeps a prompt cached after its last use, ms; absent = not known. For predicting
   * cache hits and their cost; it turns nothing on.
   */
  readonly cacheTtlMs?: number;
  /** Its classes of service by name; absent = not recorded. */
  readonly serviceTiers?: readonly string[];
  /** Absent = its api's policy. */
  readonly policy?: PolicyFamily;
  /** True: passes requests on to other makers' models, named "maker/model". Default: false. */
  readonly isRouter?: boolean;
  /** Its only models; absent = any name is taken. */
  readonly models?: readonly ModelRecord[];
}

/** What is known of one model of a provider; tokens. */
export interface ModelRecord {
  /** As its provider knows it. */
  readonly id: string;
  /** Tokens of prompt and reply together. */
  readonly contextWindow: number;
  /** Tokens of one reply. */
  readonly maxOutputTokens: number;
}

/** One api: the name a configuration knows a wire protocol by. */
export interface ApiRecord {
  /** As in `ModelRef.api`. */
  readonly id: string;
  /** The message format behind it. */
  readonly wire: WireName;
  /** For providers that have none of their own; absent = nothing beyond the defaults. */
  readonly policy?: PolicyFamily;
}
