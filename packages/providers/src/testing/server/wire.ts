// What a wire must say of itself so that the one server can speak it.
import type { Prices, PromptTokens, Usage } from "./bill.ts";
import type { JsonObject } from "./json.ts";
import type { Violation } from "./options.ts";
import type { CacheRules, PromptCache } from "./prompt-cache.ts";
import type { EmulatedReply } from "./reply.ts";

/** A rule about a body alone. */
export interface WireRule<View> {
  /** As in the documentation of the wire, e.g. "tool.missing". */
  id: string;
  /**
   * "reject": the first-party endpoint answers 4xx. "compat": tolerated there, rejected by
   * compatible servers or older models.
   */
  level: Violation["level"];
  /** Whose rule it is; absent = everybody's. */
  flavors?: readonly string[];
  /** HTTP status. Default: 400. */
  status?: number;
  /** How the body breaks the rule, in the words a server would use; undefined when it does not. */
  find(view: View): string | undefined;
}

/** What is known of a call besides its body. */
export interface Call {
  /** Without the query. */
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Stands for the key it came with; "" without one. */
  account: string;
  /** As `EmulatorOptions.flavor`. */
  flavor: string | undefined;
}

/** Why a request gets no reply. */
export interface Failure {
  status: number;
  message: string;
  /** The provider's own name of it, where it has one. Default: by the status. */
  code?: string;
  /** The rule that was broken. Default: none. */
  rule?: string;
  /** Until another try makes sense. Default: not told. */
  retryAfterMs?: number;
}

export interface ErrorAnswer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body: unknown;
}

/** What memory makes of a request that breaks no rule. */
export interface Accepted {
  prompt: PromptTokens;
  /** As `ReceivedRequest.changes`. Default: none. */
  changes?: readonly string[];
}

export type Examined<A extends Accepted> =
  | { kind: "accepted"; accepted: A }
  | { kind: "refused"; rule: string; message: string; status?: number };

/** What a reply is made for. */
export interface Exchange<A extends Accepted> {
  /** The model's name as asked for. */
  model: string;
  /** What memory said; null: the request was not read. */
  accepted: A | null;
  /** Null: the script tells none. */
  usage: Usage | null;
  /** Letters and digits for ids: others for every request, the same for the same one. */
  nonce: string;
}

export type Frame = string | Uint8Array;

/** A streamed reply. */
export interface Frames {
  frames: readonly Frame[];
  /** Where the end begins: a stream without its frames from here on is unfinished. */
  end: number;
}

/** One conversation partner's memory: of what it said, and of what it keeps in its cache. */
export interface WireMemory<View, A extends Accepted> {
  examine(view: View, call: Call): Examined<A>;
  /** What was said, for wires that must remember it. Default: nothing is kept. */
  said?(reply: EmulatedReply, exchange: Exchange<A>): void;
}

export interface EmulatedWire<View, A extends Accepted = Accepted> {
  api: string;
  /** Between the origin and what a driver adds, e.g. "/v1". */
  basePath: string;
  /** What may stand behind that path. */
  ends: RegExp;
  /** True: a call may be posted there. */
  isCall(path: string): boolean;
  /** True: the list of models is got there. */
  isModels(path: string): boolean;
  models(names: readonly string[]): unknown;
  /** The key, in whichever header this provider wants it; undefined: none. */
  keyOf(headers: Call["headers"], url: URL): string | undefined;
  rules: readonly WireRule<View>[];
  view(body: JsonObject, call: Call): View;
  modelOf(body: JsonObject, call: Call): string;
  /** Default of an unread request: true. */
  streams(body: JsonObject | null, call: Call): boolean;
  /** Tokens of the prompt, and the most that the reply may have. */
  size(view: View): { prompt: number; reply: number };
  cache: CacheRules;
  prices(model: string): Prices;
  remember(cache: PromptCache, options: { now: () => number }): WireMemory<View, A>;
  failures: {
    json(): Failure;
    key(): Failure;
    route(method: string, path: string): Failure;
    overflow(window: number, tokens: number): Failure;
    /** The prompt fits, with the reply it does not. Absent: this provider does not mind. */
    overflowWithReply?(window: number, tokens: number, reply: number): Failure;
    rateLimit(retryAfterMs: number | undefined): Failure;
    overloaded(): Failure;
  };
  error(failure: Failure): ErrorAnswer;
  contentType: string;
  frames(reply: EmulatedReply, exchange: Exchange<A>): Frames;
  document(reply: EmulatedReply, exchange: Exchange<A>): unknown;
  /** An error told in a stream that has begun. */
  errorFrame(failure: Failure): Frame;
  /** An event that nobody can read. */
  garbage: Frame;
}

/** Rules in the form of a table: one line each. */
export const rejects = <View>(
  id: string,
  find: WireRule<View>["find"],
  more?: Pick<WireRule<View>, "flavors" | "status">,
): WireRule<View> => ({ id, level: "reject", find, ...more });

export const compat = <View>(
  id: string,
  find: WireRule<View>["find"],
  more?: Pick<WireRule<View>, "flavors" | "status">,
): WireRule<View> => ({ id, level: "compat", find, ...more });

/** Every rule that the view breaks for servers of `flavor`. */
export function brokenRules<View>(
  rules: readonly WireRule<View>[],
  view: View,
  flavor: string | undefined,
): Violation[] {
  return rules.flatMap(({ id, level, flavors, find }) => {
    const isTheirs = flavors === undefined || (flavor !== undefined && flavors.includes(flavor));
    const text = isTheirs ? find(view) : undefined;
    return text === undefined ? [] : [{ rule: id, level, text }];
  });
}

/** One server-sent event. */
export const sse = (data: unknown, event?: string): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

/** The value of a header that may have come more than once. */
export const header = (headers: Call["headers"], name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value.join(",") : value;
};

export const bearer = (headers: Call["headers"]): string | undefined =>
  /^Bearer (.+)$/i.exec(header(headers, "authorization") ?? "")?.[1];
