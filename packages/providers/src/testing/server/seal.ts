// Signatures that only an emulated provider can have written, and what they are bound to.
import { createHmac } from "node:crypto";
import { isRecord } from "@clew/plugin-sdk/host";

/** What a provider remembers in a signature, so that it need not remember it itself. */
export interface Sealed {
  /** The wire that minted it. */
  api: string;
  account: string;
  model: string;
  /** Stands for the words that were signed. */
  content: string;
  /** Stands for the conversation before them. */
  prefix: string;
  /** The seal of the reasoning before it that the provider read; null = there was none. */
  previous: string | null;
}

/** The same for every server: a signature outlives the one that minted it. */
const KEY = "emulated provider";

const macOf = (payload: Buffer) =>
  createHmac("sha256", KEY).update(payload).digest().subarray(0, 12);

/** As Base64. The same content gives the same seal. */
export function seal(content: Sealed): string {
  const payload = Buffer.from(JSON.stringify(content));
  return Buffer.concat([macOf(payload), payload]).toString("base64");
}

/** Undefined: it is none of ours, or was altered. */
export function unseal(signature: string): Sealed | undefined {
  const bytes = Buffer.from(signature, "base64");
  const payload = bytes.subarray(12);
  if (payload.length === 0 || !macOf(payload).equals(bytes.subarray(0, 12))) return undefined;
  if (bytes.toString("base64") !== signature) return undefined;
  const content: unknown = JSON.parse(payload.toString());
  return isRecord(content) ? (content as unknown as Sealed) : undefined;
}
