// Finds the gateway of one home and talks to no other.
import { hostname } from "node:os";
import { isRecord } from "@clew/plugin-sdk/host";
import { whoClaims } from "./home/claim.ts";
import { findGatewayFile, type GatewayFile } from "./home/gateway-file.ts";
import {
  hashOfHome,
  isEqual,
  newNonce,
  proofOfGateway,
  proofOfRequest,
  REQUEST_PROOF,
} from "./home/identity.ts";
import { askLoopback, streamLoopback } from "./home/loopback.ts";
import { mayRun } from "./locks/process-identity.ts";

/** Time a gateway gets to say who it is, ms. One that is known to be ours may be busy. */
const STRANGER_MS = 1500;
const OWN_MS = 5000;
/** More is no answer of a gateway. */
const MAX_HEALTH_BYTES = 256 * 1024;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export type GatewayLookup =
  | { kind: "running"; gateway: OwnGateway }
  /** This home's gateway is alive, but does not answer. */
  | { kind: "silent"; url: string; pid: number }
  /** This home's gateway runs, but without the file that says where and proves it. */
  | { kind: "unannounced"; pid: number; file: "missing" | "unreadable" | "copied" }
  /** This home's gateway runs on another machine that shares the folder. */
  | { kind: "elsewhere"; host: string; pid: number }
  /** This home's gateway does not run, and somebody else answers on its port. */
  | { kind: "stranger"; port: number; stranger: Stranger; wasCopied: boolean }
  /** `wasCopied`: the file that is there came with a copy of another home, and means that one. */
  | { kind: "none"; port: number; wasCopied: boolean };

export interface Stranger {
  /** Null when it is no gateway. */
  homeHash: string | null;
  /** It names our home, but cannot prove that it is our gateway. */
  isPretender: boolean;
}

export interface OwnGateway {
  /** e.g. "http://127.0.0.1:18790". */
  url: string;
  pid: number;
  /** What it answered to `/api/health`. */
  health: JsonObject;
  /** Only this gateway obeys the request: any other refuses it. Null when it does not answer. */
  request(path: string, options: { method?: string; timeoutMs: number }): Promise<OwnAnswer | null>;
  /** The same with a text as its body, and an answer that comes as it is made, or a rejection. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

export interface OwnAnswer {
  status: number;
  /** Empty when the answer was no JSON object. */
  body: JsonObject;
}

type JsonObject = Record<string, unknown>;

export interface LookupRequest {
  home: string;
  /** Where a gateway of this home would listen, as configured; 0 = nobody knows. */
  port: number;
  /** Time this home's gateway gets to answer, ms. */
  patienceMs?: number;
}

/** The proof counts first; the process is looked at only when there is none. */
export async function findOwnGateway(request: LookupRequest): Promise<GatewayLookup> {
  const { home, patienceMs = OWN_MS } = request;
  const found = findGatewayFile(home);
  if (found.kind !== "found") return findWithoutFile(request, found.kind);
  const { file } = found;
  if (file.host !== hostname()) return { kind: "elsewhere", host: file.host, pid: file.pid };
  const nonce = newNonce();
  const answer = await askHealth(file.port, { nonce, timeoutMs: patienceMs });
  if (answer.kind === "answer" && isProven(file, nonce, answer.health))
    return { kind: "running", gateway: await wholeGateway(file, answer.health, patienceMs) };
  if (!(await mayRun(file))) return whoElse(request);
  // It listens before it writes the file: one that does not is about to end.
  if (answer.kind === "closed") return { kind: "none", port: file.port, wasCopied: false };
  if (answer.kind === "silent") return { kind: "silent", url: urlOf(file.port), pid: file.pid };
  const stranger = strangerIn(answer.health, hashOfHome(home));
  return { kind: "stranger", port: file.port, stranger, wasCopied: false };
}

async function findWithoutFile(
  request: LookupRequest,
  file: "missing" | "unreadable" | "copied",
): Promise<GatewayLookup> {
  const owner = await whoClaims(request.home);
  if (owner === null) return whoElse(request, { wasCopied: file === "copied" });
  const { host, pid } = owner;
  return host === hostname()
    ? { kind: "unannounced", pid, file }
    : { kind: "elsewhere", host, pid };
}

function isProven({ secret, port, place }: GatewayFile, nonce: string, health: JsonObject) {
  const expected = proofOfGateway(secret, { port, nonce });
  const isKeeper = expected !== null && isEqual(String(health.proof), expected);
  return isKeeper && health.home === place.folder;
}

/** The stranger on a port as one would name it: "another gateway (home …)" or "another program". */
export function nameStranger({ homeHash, isPretender }: Stranger): string {
  if (isPretender) return "a program that cannot prove to be this home's gateway";
  return homeHash === null ? "another program" : `another gateway (home ${homeHash})`;
}

/** Why there is no gateway to speak to, without a full stop. */
export function describeMissing(lookup: Exclude<GatewayLookup, { kind: "running" }>): string {
  switch (lookup.kind) {
    case "silent":
      return `this home's gateway (process ${lookup.pid}) does not answer at ${lookup.url}`;
    case "unannounced":
      return `a gateway runs on this home (process ${lookup.pid}), but its gateway.json is ${lookup.file}; it writes that file again within seconds, so try again, and restart it if that does not help`;
    case "elsewhere":
      return `this home's gateway runs on ${lookup.host} (process ${lookup.pid}), out of reach from here`;
    case "stranger":
      return `${nameStranger(lookup.stranger)} answers on port ${lookup.port}; this home's gateway is not running${copied(lookup)}`;
    case "none":
      return `no gateway is running${copied(lookup)}`;
  }
}

const copied = ({ wasCopied }: { wasCopied: boolean }) =>
  wasCopied ? " (its gateway.json was copied from another home)" : "";

/** Whoever uses the port of a home's gateway and is not that; null when nobody does. */
export async function findStranger(port: number, ownHash: string): Promise<Stranger | null> {
  if (port === 0) return null;
  const answer = await askHealth(port, { nonce: newNonce(), timeoutMs: STRANGER_MS });
  if (answer.kind === "closed") return null;
  return strangerIn(answer.kind === "silent" ? {} : answer.health, ownHash);
}

async function whoElse(
  { home, port }: LookupRequest,
  { wasCopied = false } = {},
): Promise<GatewayLookup> {
  const stranger = await findStranger(port, hashOfHome(home));
  return stranger === null
    ? { kind: "none", port, wasCopied }
    : { kind: "stranger", port, stranger, wasCopied };
}

/** One that wants tokens tells little of itself to whoever has not proven to be of its home. */
async function wholeGateway(file: GatewayFile, health: JsonObject, timeoutMs: number) {
  const gateway = ownGateway(file, health);
  if ("engine" in health) return gateway;
  const whole = await gateway.request("/api/health", { timeoutMs });
  return ownGateway(file, whole?.body ?? health);
}

function ownGateway({ port, pid, secret }: GatewayFile, health: JsonObject): OwnGateway {
  const proof = (method: string, path: string) => {
    const { pathname } = new URL(path, "http://127.0.0.1");
    return { [REQUEST_PROOF]: proofOfRequest(secret, { method, path: pathname }) };
  };
  return {
    ...{ url: urlOf(port), pid, health },
    fetch(path, { method = "GET", headers, body, signal } = {}) {
      const given = Object.fromEntries(new Headers(headers));
      return streamLoopback({
        ...{ port, path, method, headers: { ...given, ...proof(method, path) } },
        ...{ body: typeof body === "string" ? body : undefined, signal: signal ?? undefined },
      });
    },
    async request(path, { method = "GET", timeoutMs }) {
      const headers = proof(method, path);
      const question = { port, path, method, headers, timeoutMs, maxBytes: MAX_ANSWER_BYTES };
      const answer = await askLoopback(question);
      return answer.kind === "answer"
        ? { status: answer.status, body: parseObject(answer.text) }
        : null;
    },
  };
}

/** What nobody can read as an answer of a gateway becomes an empty one. */
async function askHealth(
  port: number,
  { nonce, timeoutMs }: { nonce: string; timeoutMs: number },
): Promise<{ kind: "closed" } | { kind: "silent" } | { kind: "answer"; health: JsonObject }> {
  const path = `/api/health?nonce=${nonce}`;
  const answer = await askLoopback({ port, path, timeoutMs, maxBytes: MAX_HEALTH_BYTES });
  if (answer.kind === "closed" || answer.kind === "silent") return answer;
  return { kind: "answer", health: answer.kind === "answer" ? parseObject(answer.text) : {} };
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** Nothing else of a stranger's answer is ever shown. */
function strangerIn(health: JsonObject, ownHash: string): Stranger {
  const isHash = typeof health.home === "string" && /^[0-9a-f]{16}$/.test(health.home);
  const homeHash = isHash ? (health.home as string) : null;
  return { homeHash, isPretender: homeHash === ownHash };
}

const urlOf = (port: number) => `http://127.0.0.1:${port}`;
