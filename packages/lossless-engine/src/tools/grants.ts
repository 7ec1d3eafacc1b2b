// Which child session may read which session, how much and how long.
import type { PrepareSubagentSpawnParams } from "@clew/plugin-sdk/core";
import type { OwnedSession } from "../sessions/owner.ts";

/** What a child may read besides its own session. */
export interface Grant {
  /** Whose conversations. */
  readonly session: OwnedSession;
  /** Until when, monotonic ms; one that was passed on also ends with the one before it. */
  readonly ends: number;
  /** Generations of children that may inherit it. */
  readonly depth: number;
  /** Tokens that may still be read, by this child and all that inherit from it. */
  readonly left: { tokens: number };
  /** The session that passed it on, and its own grant; null = it is the parent's own. */
  readonly from: { readonly sessionKey: string; readonly grant: Grant } | null;
}

/** The grants of one process: a child that outlives it asks its parent. */
export interface Grants {
  /** For a child about to start. Null: its parent may not pass on what it was granted itself. */
  give(
    params: Pick<
      PrepareSubagentSpawnParams,
      "parentSessionKey" | "childSessionKey" | "parentSessionId" | "ttlMs"
    > &
      Pick<OwnedSession, "owner"> & {
        /** That may be read. Absent: 4,000; one that was passed on has what is left of it. */
        readonly tokens?: number | undefined;
      },
  ): Grant | null;
  /** The grant of a session; undefined: it has none, or none any more. */
  of(sessionKey: string | undefined): Grant | undefined;
  /** True: another session started it, and it reads nothing but its own and what it was granted. */
  isChild(sessionKey: string | undefined): boolean;
  /** Takes this grant back, or any that the child has; true when there was one. */
  revoke(childSessionKey: string, grant?: Grant): boolean;
}

/** So hosts call the sessions that others start. */
const CHILD = /(?:^|:)subagent:/;

const TOKENS = 4_000;
const DEPTH = 3;
/** For children whose run has no bound. */
const DEFAULT_TTL_MS = 5 * 60_000;
const MOST_GRANTS = 1_000;
/** A child stays one when its grant ends. */
const MOST_CHILDREN = 100_000;

/** `now` gives monotonic ms. */
export function createGrants(now: () => number = () => performance.now()): Grants {
  const grants = new Map<string, Grant>();
  const children = new Set<string>();
  const of = (sessionKey: string | undefined): Grant | undefined => {
    const grant = sessionKey === undefined ? undefined : grants.get(sessionKey);
    if (grant === undefined || grant.ends <= now()) return undefined;
    // What was passed on ends with the grant of whoever passed it on.
    const { from } = grant;
    return from === null || of(from.sessionKey) === from.grant ? grant : undefined;
  };
  return {
    of,
    isChild: (sessionKey) =>
      sessionKey !== undefined && (CHILD.test(sessionKey) || children.has(sessionKey)),
    give({ parentSessionKey, childSessionKey, parentSessionId, owner, ttlMs: given, tokens }) {
      const ttlMs = given === undefined || Number.isNaN(given) ? DEFAULT_TTL_MS : given;
      children.add(childSessionKey);
      if (children.size > MOST_CHILDREN) children.delete(children.keys().next().value!);
      const inherited = of(parentSessionKey);
      if (inherited?.depth === 0) return null;
      const grant: Grant = {
        session: inherited?.session ?? {
          sessionId: parentSessionId ?? "",
          ...{ sessionKey: parentSessionKey, owner },
        },
        ends: now() + ttlMs,
        depth: (inherited?.depth ?? DEPTH) - 1,
        left: inherited?.left ?? { tokens: tokens ?? TOKENS },
        from: inherited === undefined ? null : { sessionKey: parentSessionKey, grant: inherited },
      };
      grants.delete(childSessionKey);
      grants.set(childSessionKey, grant);
      if (grants.size > MOST_GRANTS) grants.delete(grants.keys().next().value!);
      return grant;
    },
    revoke: (childSessionKey, grant = grants.get(childSessionKey)) =>
      grants.get(childSessionKey) === grant && grants.delete(childSessionKey),
  };
}
