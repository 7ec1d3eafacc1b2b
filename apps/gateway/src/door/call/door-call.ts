// What comes in by the door, and the way back to whoever sent it.
import { toJson } from "../../own-json.ts";
import type { RawHeaders } from "../../passing/raw-headers.ts";
import type { BodyOutline } from "../body/outline.ts";
import type { DoorAnswer, DoorRequest, DoorWire, JsonObject } from "../wires/door-wire.ts";

/** By this header a client names a session of Clew's, and is told which one answered. */
export const SESSION_HEADER = "x-clew-session";

/** Any request at the door. */
export interface DoorVisit {
  method: string;
  /** Without its query. */
  path: string;
  /** With its "?"; "" when there is none. */
  query: string;
  headers: RawHeaders;
  /** Of the body, unpacked; empty when there is none. */
  bytes: Uint8Array;
}

/** A request that holds a conversation. */
export interface DoorCall extends DoorVisit {
  wire: DoorWire;
  /** The body, parsed. */
  body: JsonObject;
  /** Where what is in it stands in its bytes. */
  outline: BodyOutline;
  request: DoorRequest;
}

/** Where an answer goes. */
export interface DoorOutlet {
  /** Aborted when whoever asked has gone before the end. */
  readonly gone: AbortSignal;
  /** Aborted with `gone`, or within seconds of the end: whoever asked has not taken all of it. */
  readonly lost: AbortSignal;
  /** True once `begin` was called. */
  readonly hasBegun: boolean;
  begin(status: number, headers: RawHeaders): void;
  /** Waits while whoever asked reads more slowly. */
  write(bytes: Uint8Array): Promise<void>;
  /** Waits while much of what was written has not arrived: the system takes more than it should. */
  hasTaken(): Promise<void>;
  end(): void;
  /** Whoever asked sees that the answer is not whole. */
  breakOff(): void;
}

/** Gives a whole answer as JSON. */
export function answerWith(
  outlet: DoorOutlet,
  { status, body, retryAfterSeconds, isWorthRepeating }: DoorAnswer,
  headers: RawHeaders = [],
): void {
  const bytes = new TextEncoder().encode(toJson(body));
  outlet.begin(status, [
    ["content-type", "application/json"],
    ["content-length", String(bytes.length)],
    ...(retryAfterSeconds === undefined
      ? []
      : [["retry-after", String(retryAfterSeconds)] as const]),
    // The SDKs of OpenAI and Anthropic repeat by this header before they look at the status.
    ...(isWorthRepeating === false ? [["x-should-retry", "false"] as const] : []),
    ...headers,
  ]);
  void outlet.write(bytes);
  outlet.end();
}

/** False: a stream is one JSON list, which Google's is without alt=sse. */
export const wantsEvents = ({ api }: DoorWire, { query }: Pick<DoorVisit, "query">): boolean =>
  api !== "google-generative-ai" || /[?&]alt=sse\b/.test(query);
