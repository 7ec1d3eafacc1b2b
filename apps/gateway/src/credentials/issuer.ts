// Asks a server that gives out credentials.
import { SignInError } from "./credential.ts";

export interface IssuerAnswer {
  /** The server. */
  where: string;
  status: number;
  /** What it said, if that was a JSON object; else empty. */
  body: Readonly<Record<string, unknown>>;
  /** As it said it; empty when that was too long, in which case the rest of it was not read. */
  text: string;
}

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 100_000;

/** Throws a `SignInError` that names the server and nothing it was sent. */
export async function askIssuer(
  fetch: typeof globalThis.fetch,
  url: string,
  init: { method: "GET" | "POST"; headers: Record<string, string>; body?: string },
): Promise<IssuerAnswer> {
  const where = URL.canParse(url) ? new URL(url).origin : url;
  let text: string;
  let status: number;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    // Nowhere else: what is sent is a secret.
    const answer = await fetch(url, { ...init, redirect: "manual", signal });
    status = answer.status;
    text = await readText(answer);
  } catch {
    throw new SignInError(`${where}, which gives out its credentials, does not answer; try again`);
  }
  return { where, status, body: objectIn(text), text };
}

/** Reads no further than the limit, counted after decompression: the answer may never end. */
async function readText({ body }: Response): Promise<string> {
  if (body === null) return "";
  const pieces: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop ends the answer.
  for await (const piece of body) {
    size += piece.byteLength;
    if (size > MOST_BYTES) return "";
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/**
 * An answer that is no refusal and gives nothing either: it says something of the server, not of
 * the credentials it was sent. Undefined for a refusal.
 */
export function oddAnswer({ where, status, body }: IssuerAnswer): SignInError | undefined {
  if (textIn(body.error) !== undefined || (status >= 400 && status < 500)) return undefined;
  const odd =
    status < 300
      ? "answered without any that can be used; see whether it is the right server"
      : status < 400
        ? `sends the request on (${status}), but secrets go nowhere else; correct its address`
        : `has failed (${status}); try again later`;
  return new SignInError(`${where}, which gives out its credentials, ${odd}`);
}

/** Empty for a text that is no JSON object. */
export function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}

/** A value that is a text with something in it. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
