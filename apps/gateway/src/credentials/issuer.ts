// Asks a server that gives out credentials.
import { SignInError } from "./credential.ts";

export interface IssuerAnswer {
  status: number;
  /** What it said, if that was a JSON object; else empty. */
  body: Readonly<Record<string, unknown>>;
  /** As it said it; empty when that was too long. */
  text: string;
}

const TIMEOUT_MS = 10_000;
const MOST_CHARACTERS = 100_000;

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
    text = await answer.text();
  } catch {
    throw new SignInError(`${where}, which gives out its credentials, does not answer; try again`);
  }
  const said = text.length > MOST_CHARACTERS ? "" : text;
  return { status, body: objectIn(said), text: said };
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
