// Refuses what no HTTP request can carry, before anything is sent.
import { type ModelError, SECRET_NAME } from "@clew/plugin-sdk/host";
import type { WireRequest } from "../provider.ts";
import { type FailureOrigin, who } from "./failure-origin.ts";

/** A character that no header can carry. */
export interface UnsendablePlace {
  /** As people read it: "U+2013 (–)". */
  character: string;
  /** 1 = the first. */
  place: number;
}

/**
 * The first character of a key or a header's value that HTTP cannot carry; undefined: there is
 * none. Blanks and line ends around a value are no part of it.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { unsendableCharacter } from "@clew/providers";
 *
 * assert.equal(unsendableCharacter("sk–1")?.character, "U+2013 (–)");
 * assert.equal(unsendableCharacter("sk-1"), undefined);
 * ```
 */
export function unsendableCharacter(value: string): UnsendablePlace | undefined {
  const index = value.trim().search(UNSENDABLE);
  if (index < 0) return undefined;
  const code = value.trim().codePointAt(index) ?? 0;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const isShown = /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(String.fromCodePoint(code));
  return {
    character: isShown ? `${name} (${String.fromCodePoint(code)})` : name,
    place: index + 1,
  };
}

const UNSENDABLE = /[\0\r\n]|[^\0-\xff]/;

/** Undefined: it can be sent. Nothing of what it holds is repeated but one character. */
export function whyUnsendable(
  { url, headers }: WireRequest,
  origin: FailureOrigin,
): ModelError | undefined {
  if (signsInByName(url))
    return {
      kind: "invalid_request",
      message: `${who(origin)} has a base URL with a user name or password in it, which cannot be sent; give the key as apiKey or as a header.`,
    };
  for (const [name, value] of Object.entries(headers)) {
    const found = unsendableCharacter(value);
    if (found === undefined) continue;
    const isKey = SECRET_NAME.test(name);
    const what = isKey ? `a key (header "${name}")` : `a header "${name}"`;
    return {
      kind: isKey ? "auth" : "invalid_request",
      message: `${who(origin)} has ${what} with the character ${found.character}, which HTTP cannot carry; copy it anew, or type that character.`,
    };
  }
  return undefined;
}

const signsInByName = (url: string): boolean =>
  URL.canParse(url) && (new URL(url).username !== "" || new URL(url).password !== "");
