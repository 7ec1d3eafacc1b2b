// Decides which headers go on to a model server, and which come back.
import { headerOf, type RawHeaders } from "./raw-headers.ts";
import { holdsSecret } from "./secret-writings.ts";

/** Of one connection. */
const HOP = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"],
  ...["te", "trailer", "transfer-encoding", "upgrade"],
]);
/** Told anew; the body is sent unpacked. */
const OWN = new Set(["host", "content-length", "content-encoding", "expect"]);
/** What a model server says of its own address, which is not the gateway's. */
const OF_ADDRESS = new Set([
  ...["set-cookie", "alt-svc", "strict-transport-security", "clear-site-data"],
]);
const isOfAddress = (name: string) =>
  OF_ADDRESS.has(name) || name.startsWith("access-control-") || name.startsWith("x-clew-");
/** In which clients send keys. */
const KEYS = new Set(["authorization", "x-api-key", "x-goog-api-key", "api-key"]);

export interface PassedHeaders {
  headers: RawHeaders;
  /** The gateway's own, by names in lower case; they win. */
  own: Readonly<Record<string, string>>;
  /** False: the client's key stays here. */
  passesKey: boolean;
  /** Of the gateway: they go nowhere, whatever they stand in. */
  tokens: readonly string[];
}

export function headersOnward({ headers, own, passesKey, tokens }: PassedHeaders): RawHeaders {
  const named = namedHops(headers);
  const passed = headers.flatMap(([name, value]): RawHeaders => {
    const lower = name.toLowerCase();
    if (HOP.has(lower) || OWN.has(lower) || named.has(lower) || lower.startsWith("x-clew-"))
      return [];
    if (lower in own) return [];
    if ((KEYS.has(lower) && !passesKey) || holdsSecret(value, tokens)) return [];
    if (lower === "cookie") return ownCookiesOut(name, value);
    return [[name, value]];
  });
  return [...passed, ...Object.entries(own)];
}

/** To another gateway of the same storage. */
export function headersToPeer(headers: RawHeaders): RawHeaders {
  const named = namedHops(headers);
  return headers.flatMap(([name, value]): RawHeaders => {
    const lower = name.toLowerCase();
    return HOP.has(lower) || OWN.has(lower) || named.has(lower) ? [] : [[name, value]];
  });
}

export function headersBack(headers: RawHeaders): RawHeaders {
  const named = namedHops(headers);
  return headers.filter(([name]) => {
    const lower = name.toLowerCase();
    return !HOP.has(lower) && !named.has(lower) && !isOfAddress(lower);
  });
}

/** Without a key, where the client's stays here, and without what holds one of `tokens`. */
export function queryOnward(
  { query }: { query: string },
  { passesKey, tokens }: Pick<PassedHeaders, "passesKey" | "tokens">,
): string {
  const left = query
    .slice(1)
    .split("&")
    .filter((part) => (passesKey || !part.startsWith("key=")) && !holdsSecret(part, tokens));
  return left.join("") === "" ? "" : `?${left.join("&")}`;
}

export const holdsKey = ({ headers, query }: { headers: RawHeaders; query: string }): boolean =>
  headers.some(([name]) => KEYS.has(name.toLowerCase())) || /[?&]key=/.test(query);

const namedHops = (headers: RawHeaders): ReadonlySet<string> =>
  new Set(
    (headerOf(headers, "connection") ?? "")
      .toLowerCase()
      .split(",")
      .map((name) => name.trim()),
  );

/** The page's are for this gateway only. */
function ownCookiesOut(name: string, value: string): RawHeaders {
  const left = value.split(/;\s*/).filter((cookie) => !cookie.startsWith("clew_"));
  return left.length === 0 ? [] : [[name, left.join("; ")]];
}

/** What no message may repeat. */
export const secretsIn = (headers: RawHeaders): string[] =>
  headers.flatMap(([name, value]) =>
    KEYS.has(name.toLowerCase()) ? [value.replace(/^Bearer\s+/i, "")] : [],
  );
