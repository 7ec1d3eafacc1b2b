// Tells commands of the home, the page, tokens, other gateways and strangers apart.
import { createHmac } from "node:crypto";
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import type { AnsweredAt } from "../../approvals/approval.ts";
import type { NamedToken, Scope } from "../../config/gateway-auth.ts";
import { type GatewayIdentity, isEqual, REQUEST_PROOF } from "../../home/identity.ts";
import type { HandedRequest, LetIn } from "../../peers/let-in.ts";
import type { Peers } from "../../peers/peers.ts";
import { keysInQuery, knownTokens, shownTokens } from "./tokens.ts";

export type Caller =
  /** Who can read the files of the home. Proofs were checked before. */
  | { as: "command" }
  /** A browser in which the link was opened. */
  | { as: "page" }
  | { as: "token"; token: NamedToken }
  /** Somebody whom another gateway of the same storage let in, which was proven before. */
  | { as: "peer"; letIn: LetIn }
  /** `hasFailed`: it showed something that is no token, or is none any more. */
  | { as: "anybody"; hasFailed: boolean };

type RawHeaders = readonly (readonly [name: string, value: string])[];

export interface Callers {
  /** False: nobody needs a token. */
  needsToken: boolean;
  of(context: Context): Caller;
  /** False: it says that another gateway let it in, and does not prove it. */
  isProven(context: Context): Promise<boolean>;
  /** Headers by which another gateway, at `to`, lets the same one in, for this request. */
  vouched(context: Context, asked: HandedRequest): [string, string][];
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
  /** Absent: there are no other gateways. */
  peers?: Peers | undefined;
}

/** The header by which a gateway says whom it let in. */
export const LET_IN = "x-clew-let-in";

export function createCallers({ identity, tokens, port, peers }: CallerOptions): Callers {
  const proven = new WeakMap<Context, LetIn>();
  const known = knownTokens(tokens);
  const pageKey = pageKeyOf(identity, tokens);
  const needsToken = tokens.length > 0;
  const callers: Callers = {
    needsToken,
    of(context) {
      const { req } = context;
      const letIn = proven.get(context);
      if (letIn !== undefined) return { as: "peer", letIn };
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
    async isProven(context) {
      const given = context.req.header(LET_IN);
      if (given === undefined) return true;
      const { pathname, search } = new URL(context.req.url);
      const asked = { method: context.req.method, target: `${pathname}${search}` };
      const letIn = await peers?.letIn(given, asked);
      if (letIn !== undefined) proven.set(context, letIn);
      return letIn !== undefined;
    },
    vouched(context, asked) {
      const letIn = letInAs(callers.of(context), needsToken);
      return peers === undefined || letIn === null ? [] : [[LET_IN, peers.vouch(letIn, asked)]];
    },
    withoutTokens: (headers) =>
      headers.filter(([name, value]) => {
        const lower = name.toLowerCase();
        const isOurs = ["cookie", "x-clew-token", REQUEST_PROOF, LET_IN].includes(lower);
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
  return callers;
}

/** Pure. Null: nobody is. Where nobody needs a token, all but the person's is anybody's. */
export function letInAs(caller: Caller, needsToken: boolean): LetIn | null {
  const scope = scopeOf(caller) ?? (needsToken ? null : "admin");
  return scope === null ? null : { scope, person: personAt(caller) };
}

/** Pure. Null: nothing, where there are tokens. */
export function scopeOf(caller: Caller): Scope | null {
  if (caller.as === "token") return caller.token.scope;
  if (caller.as === "peer") return caller.letIn.scope;
  return caller.as === "anybody" ? null : "admin";
}

/** Pure. Where the person of the home answers from; undefined: it may be anybody else. */
export function personAt(caller: Caller): AnsweredAt | undefined {
  if (caller.as === "peer") return caller.letIn.person;
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
