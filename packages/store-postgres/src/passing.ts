// Decides which failures of a database pass, and how long to wait before asking again.

/** After the first attempt. */
export const RETRIES = 5;
const FIRST_WAIT_MS = 50;

/**
 * Conflicts that a second attempt resolves, a server that ends or starts, too many connections, and
 * connections that broke; also when nobody can say whether the statement was run.
 */
const PASSING = /^(?:40001|40P01|53300|57P0[123]|08...)$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** True where the same statement may be sent again with hope. */
export function passes(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined && SQLSTATE.test(code)) return PASSING.test(code);
  // What has no code of PostgreSQL's came from the connection, unless it is our own mistake.
  return error instanceof Error && !(error instanceof TypeError || error instanceof RangeError);
}

/** True where the connection is of no use any more. */
export function breaksConnection(error: unknown): boolean {
  const code = codeOf(error);
  return code === undefined || !SQLSTATE.test(code) || /^(?:08|57P)/.test(code);
}

/** Twice as long each time, give or take a half; `random` is from 0 to 1. */
export const waitBefore = (retry: number, random: number): number =>
  FIRST_WAIT_MS * 2 ** retry * (0.5 + random);

/** SQLSTATE, or what Node calls it. */
export const codeOf = (error: unknown): string | undefined => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
};
