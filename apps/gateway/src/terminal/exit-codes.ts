// Which exit code a command ends with.
import { ContextEngineError, type ErrorCode, isAbort } from "@clew/plugin-sdk/core";

/** "unread": nobody reads what it prints; as of a program that SIGPIPE ended. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  blocked: 75,
  cancelled: 130,
  unread: 141,
} as const;

/** What was typed is wrong: the same command can never succeed. */
const USAGE: readonly ErrorCode[] = ["SESSION_NAME_INVALID", "REQUEST_INVALID"];

export function exitCodeOf(error: unknown): number {
  if (ContextEngineError.is(error)) return USAGE.includes(error.code) ? EXIT.usage : EXIT.failed;
  return isAbort(error) ? EXIT.cancelled : EXIT.failed;
}
