// Decides which failures of a database pass, and how long to wait before asking again.

/** After the first attempt, at least. */
export const RETRIES = 5;
const FIRST_WAIT_MS = 50;
/** Whoever waits for a server that starts asks as often as this. */
const LONGEST_WAIT_MS = 800;

/**
 * Conflicts that a second attempt resolves, a server that ends or starts, one that has become a
 * standby, too many connections, connections that were ended, and names that a pooler forgot; also
 * when nobody can say whether the statement was run.
 */
const PASSING = /^(?:25006|26000|42P05|4000[13]|40P01|53300|57P0[1235]|08...)$/;
/** Those of PostgreSQL; codes of systems begin with another letter. */
const SQLSTATE = /^[0-9FHPX][0-9A-Z]{4}$/;

/** True where the same statement may be sent again with hope. */
export function passes(error: unknown): boolean {
  const code = sqlstateOf(error);
  if (code !== undefined) return PASSING.test(code);
  // What has no code of PostgreSQL's came from the connection, unless it is our own mistake.
  return error instanceof Error && !(error instanceof TypeError || error instanceof RangeError);
}

/** True where the connection is of no use any more: also of a server that may not write now. */
export function breaksConnection(error: unknown): boolean {
  return /^(?:08|57P|25006)/.test(sqlstateOf(error) ?? "08");
}

/** True where the statement may have been run all the same. */
export function mayBeDone(error: unknown): boolean {
  return /^(?:08|57P|40003)/.test(sqlstateOf(error) ?? "08");
}

/** True where names of prepared statements are not kept: a pooler gives each another connection. */
export const forgetsNames = (error: unknown): boolean =>
  /^(?:26000|42P05)$/.test(sqlstateOf(error) ?? "");

/** Twice as long each time, give or take a half; `random` is from 0 to 1. */
export const waitBefore = (retry: number, random: number): number =>
  Math.min(FIRST_WAIT_MS * 2 ** retry, LONGEST_WAIT_MS) * (0.5 + random);

/** SQLSTATE, or what Node calls it. */
export const codeOf = (error: unknown): string | undefined => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
};

/** Undefined: it did not come from PostgreSQL. */
export function sqlstateOf(error: unknown): string | undefined {
  const code = codeOf(error);
  return code !== undefined && SQLSTATE.test(code) ? code : undefined;
}
