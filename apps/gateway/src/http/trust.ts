// Decides whether a request may answer for the person of this home, and from where it does.
import { createHmac } from "node:crypto";
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import type { AnsweredAt } from "../approvals/approval.ts";
import { type GatewayIdentity, isEqual, REQUEST_PROOF } from "../home/identity.ts";
import { hasToken } from "./token.ts";

/** What trust is measured by. */
export interface TrustOptions {
  identity: GatewayIdentity;
  /** `gateway.auth.token`. */
  token: () => string | undefined;
  port: () => number;
}

/** Browsers keep one jar for all ports of a machine. */
const cookieName = (port: number) => `clew_${port}`;
const COOKIE_SECONDS = 30 * 86_400;

/** The last part of the link that lets a browser answer; without a token it changes each start. */
const pageKeyOf = ({ identity, token }: Omit<TrustOptions, "port">): string =>
  createHmac("sha256", token() ?? identity.secret)
    .update("clew page")
    .digest("hex")
    .slice(0, 40);

/** What a person opens once, so that the page may answer. */
export const pageLink = (options: TrustOptions): string =>
  `http://127.0.0.1:${options.port()}/open/${pageKeyOf(options)}`;

/** Undefined: anybody on this machine may have sent it. Proofs were checked before. */
export function trustOf(context: Context, options: TrustOptions): AnsweredAt | undefined {
  if (context.req.header(REQUEST_PROOF) !== undefined) return "command";
  if (hasToken(context.req.header("authorization"), options.token())) return "http";
  const given = getCookie(context, cookieName(options.port()));
  return given !== undefined && isEqual(given, pageKeyOf(options)) ? "page" : undefined;
}

/** Whether the key was right; then the browser is trusted from now on. */
export function trustBrowser(context: Context, key: string, options: TrustOptions): boolean {
  const right = pageKeyOf(options);
  if (!isEqual(key, right)) return false;
  setCookie(context, cookieName(options.port()), right, {
    ...{ httpOnly: true, sameSite: "Strict", path: "/", maxAge: COOKIE_SECONDS },
  });
  return true;
}
