// Decides what follows when a server could not be reached, or ended.

/** How a server failed, for programs. */
export type McpFailureKind =
  /** It cannot be started, or be used as it is set up. */
  | "unusable"
  /** It wants another key. */
  | "refused"
  /** It said nothing in time. */
  | "mute"
  /** Its process or its connection ended. */
  | "ended"
  /** It sent a message that is too large. */
  | "too-large"
  /** It sent nothing but what nobody understands. */
  | "flood";

/** Waits before a server is tried again, ms; after them it is off. */
export const RETRY_MS = [1000, 5000, 25_000] as const;

/** How long a server must have been there for its failures to be forgotten, ms. */
export const STEADY_MS = 60_000;

/** Trying again changes nothing of these. */
const IN_VAIN: ReadonlySet<McpFailureKind> = new Set<McpFailureKind>(["unusable", "refused"]);

/** Pure. `failures`: in a row, this one included. */
export function planRetry(
  kind: McpFailureKind,
  failures: number,
): { kind: "retry"; afterMs: number } | { kind: "off" } {
  const afterMs = RETRY_MS[failures - 1];
  return IN_VAIN.has(kind) || afterMs === undefined ? { kind: "off" } : { kind: "retry", afterMs };
}
