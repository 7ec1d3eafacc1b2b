// What an emulated server is given, and what it shows.
import type { Bill, Prices } from "./bill.ts";
import type { EmulatorFault } from "./fault.ts";
import type { JsonObject } from "./json.ts";
import type { EmulatedReply } from "./reply.ts";

/** What the server answers one request with. */
export type EmulatorAnswer = EmulatedReply | EmulatorFault;

/** One broken rule. */
export interface Violation {
  /** The rule's name, e.g. "tool.missing". */
  rule: string;
  /** "reject": the provider itself refuses; "compat": older models and other servers do. */
  level: "reject" | "compat";
  /** In the words a server would use. */
  text: string;
}

/** A request as it arrived. */
export interface ReceivedRequest {
  /** As in the request line, e.g. "/v1/chat/completions". */
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as sent. */
  text: string;
  /** The parsed body; null when it was no JSON or is not read (`check: false`). */
  body: JsonObject | null;
  /** Rules it breaks, those of the server's memory included. */
  violations: readonly Violation[];
  /** What the provider changed before the model read it, in its own words. */
  changes: readonly string[];
  /** Tokens and cost; null when it was refused, failed or not read. */
  bill: Bill | null;
}

/** What the server answers, whose rules it checks, and what it sells. */
export interface EmulatorOptions<Flavor extends string = string> {
  /**
   * In this order, the last one again and again; or chosen by the request and the number of answers
   * before. Default: `{ text: "ok" }`.
   */
  answers?:
    | readonly EmulatorAnswer[]
    | ((request: ReceivedRequest, index: number) => EmulatorAnswer);
  /** Whose rules count, where servers of one wire differ. Default: those they share. */
  flavor?: Flavor;
  /**
   * False: requests are neither parsed nor checked, for benchmarks. Default: a request that breaks
   * a rule gets its 4xx.
   */
  check?: boolean;
  /** True: rules of level "compat" are told in `violations`, not refused. Default: refused. */
  tolerant?: boolean;
  /** Names for the list of models. Default: one. */
  models?: readonly string[];
  /** Keys that are let in. Default: any, and none. */
  keys?: readonly string[];
  /**
   * True: it answers only where a provider of its api does, from the address it tells on. Default:
   * wherever a path ends as theirs do.
   */
  exactAddress?: boolean;
  /** Tokens of prompt and reply; a prompt above it is refused. Default: no limit. */
  contextWindow?: number;
  /** True: prompt and the longest reply asked for must fit together. Default: the prompt must. */
  countMaxTokens?: boolean;
  /** USD for a million tokens; what is not given costs as usual. */
  prices?: Partial<Prices>;
  /** Tokens below which a prompt is not cached. Default: the provider's. */
  cacheMinimumTokens?: number;
  /** ms since the epoch, for what is kept for a time. Default: the clock. */
  now?: () => number;
  /** Told of each request once it was judged. Default: nobody. */
  onRequest?: (request: ReceivedRequest) => void;
  /** TCP port. Default: any free one. */
  port?: number;
}

/** A running server. */
export interface Emulator {
  /** The api it speaks, e.g. "anthropic-messages". */
  readonly api: string;
  /** E.g. "http://127.0.0.1:40123"; what official clients take. */
  readonly url: string;
  /** With the version path, e.g. "http://127.0.0.1:40123/v1"; what an endpoint takes. */
  readonly baseUrl: string;
  /** Every call so far, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** Rules broken so far. */
  readonly violations: readonly Violation[];
  /** The sum of all bills. */
  readonly bill: Bill;
  /** Ends all connections and the server. */
  close(): Promise<void>;
}
