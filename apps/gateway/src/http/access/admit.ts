// Decides whether a request is heard, by who sends it, what it asks for and how often.
import type { Scope } from "../../config/gateway-auth.ts";
import { type Caller, scopeOf } from "./caller.ts";
import type { Rates } from "./rates.ts";
import { includes, neededScope } from "./scope.ts";

export interface AskedFor {
  method: string;
  path: string;
  /** True: it is there for everybody, or asks by itself who is there. */
  isPublic: boolean;
  /** Of the one at the other end; "" = not known. */
  address: string;
}

export interface AdmitOptions {
  /** False: nobody needs a token. */
  needsToken: boolean;
  requests: Rates;
  failures: Rates;
}

export type Admission =
  | { kind: "heard" }
  /** `isWrong`: it showed a token, which is none. */
  | { kind: "unknown"; isWrong: boolean }
  | { kind: "too-little"; has: Scope; needed: Scope }
  /** `isGuessing`: it showed wrong tokens, too often. */
  | { kind: "too-often"; isGuessing: boolean; waitSeconds: number };

/** Counts what it is asked. Commands of the home are always heard, and others counted once. */
export function admit(caller: Caller, asked: AskedFor, options: AdmitOptions): Admission {
  if (caller.as === "command") return { kind: "heard" };
  const { address, isPublic, method, path } = asked;
  if (caller.as === "peer") return withScope(caller.letIn.scope, asked);
  const { needsToken, requests, failures } = options;
  const guessed = failures.waitOf(address);
  const isWrong = caller.as === "anybody" && caller.hasFailed && needsToken && !isPublic;
  // On its own machine one program with a wrong token keeps no other one out.
  if (guessed > 0 && (isWrong || !isOwnMachine(address)))
    return { kind: "too-often", isGuessing: true, waitSeconds: guessed };
  const who = caller.as === "token" ? `token ${caller.token.name}` : `address ${address}`;
  const waitSeconds = requests.waitOf(who);
  if (waitSeconds > 0) return { kind: "too-often", isGuessing: false, waitSeconds };
  requests.add(who);
  if (!needsToken || isPublic) return { kind: "heard" };
  const has = scopeOf(caller);
  if (has === null) {
    if (isWrong) failures.add(address);
    return { kind: "unknown", isWrong };
  }
  return withScope(has, { method, path });
}

function withScope(has: Scope, asked: Pick<AskedFor, "method" | "path">): Admission {
  const needed = neededScope(asked);
  return includes(has, needed) ? { kind: "heard" } : { kind: "too-little", has, needed };
}

/** Pure. */
export const isOwnMachine = (address: string): boolean => /^(::ffff:)?127\.|^::1$|^$/.test(address);
