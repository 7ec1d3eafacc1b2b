// What a driver is, and the endpoint it talks to.
import type { ModelCall, ModelError, StreamEvent } from "@clew/plugin-sdk/host";

/** Where a provider answers, and how to sign in. */
export interface Endpoint {
  /**
   * Up to and including the version path, e.g. "http://127.0.0.1:11434/v1". A local driver ignores
   * it.
   */
  baseUrl: string;
  /** Default: none is sent; the request may be signed instead. */
  apiKey?: string;
  /** Sent with every request; they win over the driver's own. Default: none. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Whose dialect of its API the server speaks, for proxies: one of `FLAVORS`. Absent = told from
   * `baseUrl`.
   */
  flavor?: string;
  /** The Google Cloud project, for "google-gemini-cli" only. Absent: none is named. */
  project?: string;
}

/** One HTTP request, complete and ready to send. The same call and endpoint give the same bytes. */
export interface WireRequest {
  /** Always POST. */
  method: "POST";
  /** Complete, with the driver's path. */
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** JSON text. */
  body: string;
}

/** What a decoder may know about the answer before its first byte. */
export interface DecoderOptions {
  call: ModelCall;
  endpoint: Endpoint;
  /** The answer's content-type header. */
  contentType: string | null;
  /** ms since the epoch; stamps the message. */
  now: () => number;
  /** What no message may repeat, beside what the endpoint holds. Default: nothing else. */
  secrets?: readonly string[];
}

/**
 * Turns the bytes of one answer into events. After it gave a `done` or `error` event it gives
 * nothing more.
 */
export interface StreamDecoder {
  /** The events completed by these bytes; cuts may fall anywhere, also inside a character. */
  push(bytes: Uint8Array): StreamEvent[];
  /**
   * The body ended: the final event, unless `push` gave it. A body without its final event is a
   * failed turn.
   */
  end(): StreamEvent[];
  /**
   * Ends the answer early: the final event with what had arrived, or nothing when it was given
   * before.
   */
  fail(error: ModelError): StreamEvent[];
}

/** A wire protocol spoken over HTTP. */
export interface WireDriver {
  readonly kind: "wire";
  readonly api: string;
  /** Pure. */
  buildRequest(call: ModelCall, endpoint: Endpoint): WireRequest;
  /** Pure. What the call asks and the request does not, and why, in words. Absent: nothing. */
  leavesOut?(call: ModelCall): readonly string[];
  createDecoder(options: DecoderOptions): StreamDecoder;
}

/** A model inside this process: no network, no key. */
export interface LocalDriver {
  readonly kind: "local";
  readonly api: string;
  stream(options: { call: ModelCall; now: () => number }): AsyncIterable<StreamEvent>;
}

export type Driver = WireDriver | LocalDriver;
