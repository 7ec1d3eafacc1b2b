// Which parts of an address are secret, and what of it people may see.

/**
 * An address as people may see it: origin and path. What stands before "@" or behind "?" may be a
 * secret.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { shownAddress } from "@clew/plugin-sdk/host";
 *
 * assert.equal(shownAddress("http://me:secret@10.0.0.1/v1?key=secret"), "http://10.0.0.1/v1");
 * ```
 */
export function shownAddress(address: string): string {
  const place = address.replace(/[?#].*$/s, "");
  // Greedy: a password may hold an "@" of its own.
  return place.replace(/^([a-z][a-z0-9+.-]*:\/\/)?(?:[^/]*@)/i, "$1");
}

/**
 * What of an address nobody may be told: user name and password, and what its query calls a key,
 * longer ones first. Of a database's, a password may hold what ends it in other addresses, and it
 * may be written as `host=… password=…`.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { secretsInAddress } from "@clew/plugin-sdk/host";
 *
 * assert.deepEqual(secretsInAddress("http://10.0.0.1/v1?key=abc&api-version=1"), ["abc"]);
 * ```
 */
export function secretsInAddress(given: string): string[] {
  const address = given.trimStart();
  const found = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)@/i.exec(address)?.[1] ?? "";
  // Of a database's, a name alone lets nobody in.
  const authority = IS_DATABASE.test(address) && !found.includes(":") ? "" : found;
  const [, query] = cut(address.replace(/#.*$/s, ""), "?");
  const asked = query.split("&").flatMap((pair) => {
    const [name, value] = cut(pair, "=");
    return SECRET_NAME.test(name) ? [value] : [];
  });
  const told = [
    ...ofDatabase(address),
    ...ofPairs(address),
    ...withoutScheme(address),
    authority,
    ...authority.split(":").slice(1),
    ...asked,
  ];
  return [...new Set(told.flatMap((secret) => [secret, decoded(secret)]))].filter(
    (secret) => secret !== "",
  );
}

/**
 * Names of parameters and headers that hold keys.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { SECRET_NAME } from "@clew/plugin-sdk/host";
 *
 * const names = ["x-api-key", "api-version"];
 * assert.deepEqual(names.filter((name) => SECRET_NAME.test(name)), ["x-api-key"]);
 * ```
 */
export const SECRET_NAME = /key|token|secret|passw|auth|cookie|credential|signature|^sig$|^code$/i;

/**
 * User and password up to the last "@": whoever pasted a password into it did not write "#", "/"
 * and "?" as they have to be.
 */
function ofDatabase(address: string): string[] {
  const [, user = "", password = ""] =
    /^(?:\w+=\S*\s+|jdbc:)*postgres(?:ql)?:\/\/([^:@]*):(.*)@/is.exec(address) ?? [];
  return password === "" ? [] : [`${user}:${password}`, password];
}

const IS_DATABASE = /^postgres(?:ql)?:\/\//i;

/** As people write it who leave `postgres://` out; a port or a database makes it one. */
function withoutScheme(address: string): string[] {
  const password = /^[^\s:@/]+:(?![@/])(\S+)@[^\s@/:]+(?::\d+|(?::\d+)?\/.*)\s*$/s.exec(
    address,
  )?.[1];
  return password === undefined ? [] : [password];
}

/**
 * How libpq, shells and others write an address of a database, which is none here: people try it. A
 * value ends where the next name or address begins, as a password may hold a space.
 */
function ofPairs(address: string): string[] {
  if (!PAIRS.test(address)) return [];
  return [...address.matchAll(PASSWORD_IN_PAIRS)].flatMap(([, value = ""]) => {
    const bare = value.replace(/^(['"])(.*)\1$/s, "$2");
    return bare === value ? [value] : [value, bare];
  });
}

const PAIRS =
  /^[\s;]*(?:(?:export|env)\s+)?(?:pg[a-z]+|host|hostaddr|server|port|dbname|database|user|username|user id|uid|password|passwd|pwd|passfile|service|sslmode|sslpassword|application_name|options)\s*=/i;
const PASSWORD_IN_PAIRS =
  /\b(?:ssl|pg)?(?:password|passwd|pwd)\s*=\s*([^\s].*?)(?=[\s;]+(?:(?:user id|[a-z_]+)\s*=|postgres(?:ql)?:\/\/)|[\s;]*$)/gis;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function cut(text: string, at: string): [before: string, behind: string] {
  const place = text.indexOf(at);
  return place < 0 ? [text, ""] : [text.slice(0, place), text.slice(place + at.length)];
}
