// Finds out whose token a request shows, in a time that tells nothing of it.
import { createHash, timingSafeEqual } from "node:crypto";
import type { NamedToken } from "../../config/gateway-auth.ts";

export interface KnownTokens {
  /** The one that is among these; undefined = none. */
  find(shown: readonly string[]): NamedToken | undefined;
}

/** Those beyond are not looked at: a request has few headers that may hold one. */
const MOST_SHOWN = 5;

export function knownTokens(tokens: readonly NamedToken[]): KnownTokens {
  const known = tokens.map((token) => ({ token, digest: digestOf(token.text) }));
  return {
    find(shown) {
      let found: NamedToken | undefined;
      // Every one is compared with every other, whether one was found or not.
      for (const digest of shown.slice(0, MOST_SHOWN).map(digestOf))
        for (const each of known) if (timingSafeEqual(digest, each.digest)) found ??= each.token;
      return found;
    },
  };
}

/** Of equal length, whatever was shown. */
const digestOf = (text: string) => createHash("sha256").update(text).digest();

/** Where a token may stand: the last three are where clients of model apis put their key. */
const PLAIN_HEADERS = ["x-clew-token", "x-api-key", "x-goog-api-key"] as const;

/** Pure. Clients of Google's API may put their key into the address; nobody else does. */
export function keysInQuery(path: string, query: string): string[] {
  if (!/^\/v1(?:beta)?\/models\b/.test(path)) return [];
  return new URLSearchParams(query).getAll("key").filter((key) => key !== "");
}

/** Pure. What a request shows as its token, or as its key of some api. */
export function shownTokens(header: (name: string) => string | undefined): string[] {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(header("authorization")?.trim() ?? "") ?? [];
  return [bearer, ...PLAIN_HEADERS.map(header)].filter(
    (text): text is string => text !== undefined && text !== "",
  );
}
