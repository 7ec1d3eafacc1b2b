// Which scope a request needs where there are tokens.
import { SCOPES, type Scope } from "../../config/gateway-auth.ts";

/** Whoever holds it holds the page's key. */
const LINK = "/api/approvals/link";

/** Messages, what is done about them, and the door for clients of other apis. */
const CHAT = /^\/api\/sessions\/[^/]+\/.|^\/v1(beta)?(\/|$)/;

/** Pure. What nobody thought of is for the person alone, unless it only looks. */
export function neededScope({ method, path }: { method: string; path: string }): Scope {
  if (method === "GET" || method === "HEAD") return path === LINK ? "admin" : "read";
  return CHAT.test(path) ? "chat" : "admin";
}

/** Pure. */
export const includes = (has: Scope, needed: Scope): boolean =>
  SCOPES.indexOf(has) >= SCOPES.indexOf(needed);
