// Says in a sentence why a database did not do what it was asked, and what helps.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { codeOf, mayBeDone, sqlstateOf } from "./passing.ts";

/**
 * Why a database did not do what it was asked, for counting: it was not reached or did not answer,
 * others were in the way, no disk or memory, no connection or time left, rights or a password, it
 * may only be read, tables are missing, or something else.
 */
export type FailureKind =
  | "connection"
  | "conflict"
  | "full"
  | "limit"
  | "denied"
  | "readonly"
  | "schema"
  | "other";

/** What the failure is, and what its operator can do. */
interface Reason {
  kind: FailureKind;
  /** Goes on from "PostgreSQL". */
  why: string;
  /** Ends the sentence. */
  advice: string;
}

const UNREACHED: Reason = {
  kind: "connection",
  why: "was not reached, or did not answer in time",
  advice: "as soon as it is there again, ask again",
};

/** By SQLSTATE; the first that fits. */
const REASONS: readonly (readonly [RegExp, Reason])[] = [
  [/^(?:08|57P0[1235])/, UNREACHED],
  [
    /^(?:40|26000|42P05)/,
    {
      kind: "conflict",
      why: "was asked for too much at once",
      advice: "ask again; where a pooler stands between, see that it is in order",
    },
  ],
  [
    /^53100/,
    { kind: "full", why: "has no room left on its disk", advice: "free some there, and ask again" },
  ],
  [/^53200/, { kind: "full", why: "has no memory left", advice: "give it more, and ask again" }],
  [
    /^53300/,
    {
      kind: "limit",
      why: "has no connection left",
      advice: "end others, lower storage.connections, or raise max_connections, and ask again",
    },
  ],
  [
    /^(?:57014|55P03|53400)/,
    {
      kind: "limit",
      why: "was not given the time by its own settings",
      advice: "raise statement_timeout and lock_timeout for this user, and ask again",
    },
  ],
  [
    /^28/,
    {
      kind: "denied",
      why: "does not let this user in any more",
      advice: "correct the password in storage.url, or pg_hba.conf, and start the gateway again",
    },
  ],
  [
    /^42501/,
    {
      kind: "denied",
      why: "does not allow it to this user",
      advice:
        "grant select, insert, update and delete on all tables of the database, and ask again",
    },
  ],
  [
    /^25006/,
    {
      kind: "readonly",
      why: "may only be read at this address",
      advice: "name the primary in storage.url, and ask again",
    },
  ],
  [
    /^(?:3D000|3F000|42P01|42703)/,
    {
      kind: "schema",
      why: "has not the tables that it had",
      advice: "restore them, or start the gateway again, which makes what is missing",
    },
  ],
];

const UNKNOWN: Reason = {
  kind: "other",
  why: "refused it",
  advice: "its log says more; then ask again",
};

function reasonOf(error: unknown): Reason {
  const code = sqlstateOf(error);
  if (code === undefined) return UNREACHED;
  return REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? UNKNOWN;
}

export const kindOf = (error: unknown): FailureKind => reasonOf(error).kind;

const inBrackets = (error: unknown): string => {
  const code = codeOf(error);
  return code === undefined ? "" : ` (${code})`;
};

/** What failed in the end; an attempt before it may have been run. */
export class Uncertain extends Error {}

/** What the database says is for its operator, and holds nothing of a session. */
export function storageFailed(given: unknown): ContextEngineError {
  if (ContextEngineError.is(given)) return given;
  const error = given instanceof Uncertain ? given.cause : given;
  const { why, advice } = reasonOf(error);
  return new ContextEngineError(
    "STORAGE_FAILED",
    `PostgreSQL ${why}${inBrackets(error)}: ${advice}.`,
    { cause: given },
  );
}

/** Of a step of a session: whether it was stored is told where that is known. */
export function stepFailed(sessionKey: string, error: unknown): ContextEngineError {
  const cause = ContextEngineError.is(error) ? error.cause : error;
  const from = cause instanceof Uncertain ? cause.cause : cause;
  const { why, advice } = reasonOf(from);
  const what =
    from !== cause || mayBeDone(from)
      ? `Nobody knows whether the last step of session ${sessionKey} was stored`
      : `The last step of session ${sessionKey} was not stored`;
  return new ContextEngineError(
    "STORAGE_FAILED",
    `${what}, as PostgreSQL ${why}${inBrackets(from)}: ${advice}.`,
    { cause: error },
  );
}
