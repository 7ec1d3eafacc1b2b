// Says in one sentence why the database cannot be used, and what to do about it.
import { ContextEngineError } from "@clew/plugin-sdk/core";

/** By SQLite's primary result code: what is the matter, and what helps. */
const REASONS: Readonly<Record<number, string>> = {
  3: "permission is denied; make the file and its folder writable",
  5: "another program is writing to it; wait for it to be done, then try again",
  6: "another program is writing to it; wait for it to be done, then try again",
  8: "it is read-only; make the file and its folder writable",
  10: "the disk failed; check it, then try again",
  11: "it is damaged; move it away, and a new one is filled from the transcripts",
  13: "the disk is full; free some space",
  14: "it cannot be opened; make its folder writable",
  26: "it is no database; move it away, or name another file",
};
const DAMAGED = 11;
const NO_DATABASE: ReadonlySet<number> = new Set([DAMAGED, 26]);
const PRIMARY_CODE = 0xff;
/** Primary codes of rows that break a rule, or are of the wrong type. */
export const UNSTORABLE: ReadonlySet<number> = new Set([19, 20, 25]);
/** Of statements that name what a database does not have. */
export const UNKNOWN_COLUMN = 1;
const BUSY: ReadonlySet<number> = new Set([5, 6]);

/** What SQLite or the file system threw, as an error for people; anything else as it came. */
export function storageFailure(path: string, error: unknown): unknown {
  const reason = reasonOf(error);
  return reason === undefined
    ? error
    : storageError(`The lossless engine cannot use its database ${path}: ${reason}.`, error);
}

/** True: a page of the database says what none of ours says. */
export function isDamage(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) return false;
  if ("code" in cause && cause.code === "ERR_OUT_OF_RANGE") return true;
  return "errcode" in cause && (Number(cause.errcode) & PRIMARY_CODE) === DAMAGED;
}

/** True: SQLite itself says that the file is damaged, or none of its own. */
export const isNoDatabase = (error: unknown): boolean =>
  error instanceof Error &&
  "errcode" in error &&
  NO_DATABASE.has(Number(error.errcode) & PRIMARY_CODE);

/** True: another process has the database, and asking again a little later helps. */
export function isBusy(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error) || !("errcode" in cause)) return false;
  return typeof cause.errcode === "number" && BUSY.has(cause.errcode & PRIMARY_CODE);
}

/** `cause` stays readable: hosts ask once more where a database was only busy. */
export const storageError = (message: string, cause?: unknown): ContextEngineError =>
  new ContextEngineError("STORAGE_FAILED", message, { engineId: "lossless", cause });

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").slice(0, 200);

/** Undefined: neither of them threw it. */
function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error && typeof error.errcode === "number")
    return REASONS[error.errcode & PRIMARY_CODE] ?? `SQLite failed (${oneLine(error.message)})`;
  // A number that none of ours is.
  if ("code" in error && error.code === "ERR_OUT_OF_RANGE") return REASONS[DAMAGED];
  if ("syscall" in error && "code" in error)
    return error.syscall === "mkdir"
      ? `its folder cannot be made (${error.code}); name another file`
      : `the file cannot be made or written (${error.code}); make its folder writable, or name another file`;
  return undefined;
}
