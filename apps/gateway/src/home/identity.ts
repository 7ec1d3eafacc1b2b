// How a gateway proves which home it serves without showing a secret.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { hashOfFolder } from "../locks/file-place.ts";

export interface GatewayIdentity {
  /** Names the home without telling its path. */
  homeHash: string;
  /** Known to this gateway and to whoever may read the home's files. */
  secret: string;
  /** ISO 8601. */
  startedAt: string;
}

export function createIdentity(home: string): GatewayIdentity {
  return {
    homeHash: hashOfHome(home),
    secret: randomBytes(32).toString("hex"),
    startedAt: new Date().toISOString(),
  };
}

/** Names a home by its real path, without telling it. */
export const hashOfHome = hashOfFolder;

export function newNonce(): string {
  return randomBytes(16).toString("hex");
}

/** What only the gateway on `port` that has the secret can answer to a nonce; null for none. */
export function proofOfGateway(
  secret: string,
  { port, nonce }: { port: number; nonce: string | undefined },
): string | null {
  return nonce !== undefined && NONCE.test(nonce)
    ? proof(secret, `gateway ${port} ${nonce}`)
    : null;
}

/** The header by which a request says for which gateway it is meant. */
export const REQUEST_PROOF = "x-clew-proof";

export interface ProvenRequest {
  method: string;
  path: string;
}

/** The value of REQUEST_PROOF; it holds for this method and path only. */
export function proofOfRequest(secret: string, { method, path }: ProvenRequest): string {
  const nonce = newNonce();
  return `${nonce}:${proof(secret, `request ${method} ${path} ${nonce}`)}`;
}

/** Whether a request is meant for the gateway that has this secret. */
export function isProvenRequest(secret: string, given: string, request: ProvenRequest): boolean {
  const [nonce = "", found = ""] = given.split(":");
  const { method, path } = request;
  return NONCE.test(nonce) && isEqual(found, proof(secret, `request ${method} ${path} ${nonce}`));
}

export function isEqual(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const NONCE = /^[0-9a-f]{32}$/;

function proof(secret: string, statement: string): string {
  return createHmac("sha256", secret).update(statement).digest("hex");
}
