// What a server can do instead of answering, on every wire alike.

/** What goes wrong instead of a reply. */
export type EmulatorFault =
  /** An HTTP error. The default body is an error object in the provider's shape. */
  | { fault: "status"; status: number; headers?: Readonly<Record<string, string>>; body?: string }
  /** The provider's refusal of a request as too large. */
  | { fault: "overflow"; window: number; observedTokens?: number }
  /** 429 in the provider's words; it says how long to wait where the provider does. */
  | { fault: "rate-limit"; retryAfterMs?: number }
  /** A refusal in these words, in the provider's shape; default 400. */
  | { fault: "refusal"; message: string; code?: string; status?: number }
  /** The provider has no room: 529 or 503. */
  | { fault: "overloaded" }
  /** A page of a proxy; default 502. */
  | { fault: "html"; status?: number }
  /** A way to somewhere else; default 307 to a host that does not exist. */
  | { fault: "redirect"; status?: number; location?: string }
  /** Streams `text`, then tells of an error in the stream. */
  | { fault: "error"; text?: string; message?: string }
  /** Streams `text`, then breaks the connection. */
  | { fault: "cut"; text?: string }
  /** Streams `text`, then ends cleanly without saying why. */
  | { fault: "unfinished"; text?: string }
  /** Streams `text`, then half an event, and ends cleanly. */
  | { fault: "truncated"; text?: string }
  /** Streams `text`, then an event that nobody can read, and goes on. */
  | { fault: "malformed"; text?: string }
  /** Streams `text` (without it, not even headers), then nothing more. */
  | { fault: "hang"; text?: string }
  /** 200, and not one byte. */
  | { fault: "empty" }
  /** 200 and a few bytes that unpack to very many; default 256 MiB. */
  | { fault: "bomb"; bytes?: number };
