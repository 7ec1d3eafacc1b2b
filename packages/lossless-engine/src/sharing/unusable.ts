// Tells rows that no database can take over from a database that cannot be used now.
import { UNKNOWN_COLUMN, UNSTORABLE } from "../store/failure.ts";

/** Null: what is shared may be right, and the next try may do. */
export function whyUnusable(error: unknown): { why: string; isNewer: boolean } | null {
  // Rows that say something else than they should; a host throws none of these.
  const isNonsense =
    error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError;
  if (isNonsense) return { why: error.message, isNewer: false };
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error) || !("errcode" in cause)) return null;
  const code = Number(cause.errcode) & 0xff;
  if (!UNSTORABLE.has(code) && code !== UNKNOWN_COLUMN) return null;
  return { why: cause.message, isNewer: code === UNKNOWN_COLUMN };
}
