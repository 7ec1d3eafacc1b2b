// Tells commands of the home, the page, tokens and strangers apart.
import { createHmac } from "node:crypto";
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import type { AnsweredAt } from "../../approvals/approval.ts";
import type { NamedToken, Scope } from "../../config/gateway-auth.ts";
import { type GatewayIdentity, isEqual, REQUEST_PROOF } from "../../home/identity.ts";
import { keysInQuery, knownTokens, shownTokens } from "./tokens.ts";

export type Caller =
  /** Who can read the files of the home. Proofs were checked before. */
  | { as: "command" }
  /** A browser in which the link was opened. */
  | { as: "page" }
  | { as: "token"; token: NamedToken }
  /** `hasFailed`: it showed something that is no token, or is none any more. */
  | { as: "anybody"; hasFailed: boolean };

type RawHeaders = readonly (readonly [name: string, value: string])[];

export interface Callers {
  /** False: nobody needs a token. */
  needsToken: boolean;
  of(context: Context): Caller;
  /** What of a request's headers may be handed on to others. */
  withoutTokens(headers: RawHeaders): RawHeaders;
  /** The same of its query. */
  queryWithoutTokens(path: string, query: string): string;
  /** What a person opens once, so that the page is theirs. */
  link(): string;
  /** Whether the key was right; then the browser is trusted from now on. */
  trustBrowser(context: Context, key: string): boolean;
}

export interface CallerOptions {
  identity: GatewayIdentity;
  tokens: readonly NamedToken[];
  port: () => number;
}

export function createCallers({ identity, tokens, port }: CallerOptions): Callers {
  const known = knownTokens(tokens);
  const pageKey = pageKeyOf(identity, tokens);
  return {
    needsToken: tokens.length > 0,
    of(context) {
      const { req } = context;
      if (req.header(REQUEST_PROOF) !== undefined) return { as: "command" };
      const shown = [
        ...shownTokens((name) => req.header(name)),
        ...keysInQuery(req.path, new URL(req.url).search),
      ];
      const token = known.find(shown);
      if (token !== undefined) return { as: "token", token };
      const cookie = getCookie(context, cookieName(port()));
      if (cookie !== undefined && isEqual(cookie, pageKey)) return { as: "page" };
      return { as: "anybody", hasFailed: shown.length > 0 || cookie !== undefined };
    },
    withoutTokens: (headers) =>
      headers.filter(([name, value]) => {
        const lower = name.toLowerCase();
        const isOurs = ["cookie", "x-clew-token", REQUEST_PROOF].includes(lower);
        const shown = shownTokens((each) => (each === lower ? value : undefined));
        return !isOurs && known.find(shown) === undefined;
      }),
    queryWithoutTokens(path, query) {
      const isOurs = (part: string) => known.find(keysInQuery(path, part)) !== undefined;
      const left = query.slice(1).split("&");
      return left.some(isOurs) ? `?${left.filter((part) => !isOurs(part)).join("&")}` : query;
    },
    link: () => `http://127.0.0.1:${port()}/open/${pageKey}`,
    trustBrowser(context, key) {
      if (!isEqual(key, pageKey)) return false;
      setCookie(context, cookieName(port()), pageKey, {
        ...{ httpOnly: true, sameSite: "Strict", path: "/", maxAge: COOKIE_SECONDS },
      });
      return true;
    },
  };
}

/** Pure. Null: nothing, where there are tokens. */
export function scopeOf(caller: Caller): Scope | null {
  if (caller.as === "token") return caller.token.scope;
  return caller.as === "anybody" ? null : "admin";
}

/** Pure. Where the person of the home answers from; undefined: it may be anybody else. */
export function personAt(caller: Caller): AnsweredAt | undefined {
  if (scopeOf(caller) !== "admin" || caller.as === "anybody") return undefined;
  return caller.as === "token" ? "http" : caller.as;
}

/** Browsers keep one jar for all ports of a machine. */
const cookieName = (port: number) => `clew_${port}`;
const COOKIE_SECONDS = 30 * 86_400;

/** The last part of the link; it changes each start, unless there is `gateway.auth.token`. */
function pageKeyOf({ secret }: GatewayIdentity, tokens: readonly NamedToken[]): string {
  const own = tokens.find(({ isOwn }) => isOwn);
  return createHmac("sha256", own?.text ?? secret)
    .update("clew page")
    .digest("hex")
    .slice(0, 40);
}
