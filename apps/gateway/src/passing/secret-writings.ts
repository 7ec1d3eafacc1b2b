// Knows the ways in which a secret may be written.
import { SecretFinder } from "./secret-finder.ts";
import { type SecretReader, secretReader } from "./secret-reader.ts";

/** Whether one of them stands in the text, which has the letters of Latin-1, in any writing. */
export const holdsSecret = (text: string, secrets: readonly string[]): boolean =>
  secrets.some((secret) => {
    // No writing of it is shorter.
    if (text.length < secret.length) return false;
    const found = new SecretFinder(readerOf(secret)).push(Buffer.from(text, "latin1"));
    return found.length > 0;
  });

/** A gateway has few secrets, and looks for each of them for long. */
const KNOWN = new Map<string, SecretReader>();
const MOST_KNOWN = 256;

/** Of the secret, also in the ways that bytes are told in letters, each of these in any writing. */
export function readerOf(secret: string): SecretReader {
  const known = KNOWN.get(secret);
  if (known !== undefined) return known;
  if (KNOWN.size >= MOST_KNOWN) KNOWN.clear();
  const itself = [...secret].map((letter) => [letter]);
  const hex = [...Buffer.from(secret).toString("hex")].map((digit) => [
    ...new Set([digit, digit.toUpperCase()]),
  ]);
  const base64 = [0, 1, 2].map((before) =>
    [...base64Behind(secret, before)].map((letter) => IN_ADDRESSES[letter] ?? [letter]),
  );
  const reader = secretReader([itself, hex, ...base64]);
  KNOWN.set(secret, reader);
  return reader;
}

/** Two signs of base64 are others in addresses. */
const IN_ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  ...{ "+": ["+", "-"], "/": ["/", "_"] },
};

/** What is of the secret alone where so many bytes stand before it. */
function base64Behind(secret: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
  const from = Math.ceil((before * 8) / 6);
  return bytes.toString("base64").slice(from, Math.floor((bytes.length * 8) / 6));
}
