// Finds the gateway of one home and talks to no other.
import { hostname } from "node:os";
import { isRecord } from "@clew/plugin-sdk/host";
import { type GatewayFile, readGatewayFile } from "./home/gateway-file.ts";
import {
  isEqual,
  newNonce,
  proofOfGateway,
  proofOfRequest,
  REQUEST_PROOF,
} from "./home/identity.ts";
import { askLoopback } from "./home/loopback.ts";
import { processStart } from "./locks/process-identity.ts";

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
  /** This home's gateway runs on another machine that shares the folder. */
  | { kind: "elsewhere"; host: string; pid: number }
  /** This home's gateway does not run; `homeHash` is null when no gateway answers. */
  | { kind: "stranger"; port: number; homeHash: string | null }
  | { kind: "none"; port: number };

export interface OwnGateway {
  /** e.g. "http://127.0.0.1:18790". */
  url: string;
  pid: number;
  /** What it answered to `/api/health`. */
  health: JsonObject;
  /** Only this gateway obeys the request: any other refuses it. Null when it does not answer. */
  request(path: string, options: { method?: string; timeoutMs: number }): Promise<OwnAnswer | null>;
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

export async function findOwnGateway({
  home,
  port,
  patienceMs = OWN_MS,
}: LookupRequest): Promise<GatewayLookup> {
  const file = readGatewayFile(home);
  if (file === null) return whoElse(port);
  if (file.host !== hostname()) return { kind: "elsewhere", host: file.host, pid: file.pid };
  if (processStart(file.pid) !== file.started) return whoElse(port);
  const nonce = newNonce();
  const answer = await askHealth(file.port, { nonce, timeoutMs: patienceMs });
  // It listens before it writes the file: one that does not is about to end.
  if (answer.kind === "closed") return { kind: "none", port: file.port };
  if (answer.kind === "silent") return { kind: "silent", url: urlOf(file.port), pid: file.pid };
  const expected = proofOfGateway(file.secret, { port: file.port, nonce });
  const isOurs = expected !== null && isEqual(String(answer.health.proof), expected);
  return isOurs
    ? { kind: "running", gateway: ownGateway(file, answer.health) }
    : { kind: "stranger", port: file.port, homeHash: homeHashIn(answer.health) };
}

/** The stranger on a port as one would name it: "another gateway (home …)" or "another program". */
export function nameStranger(homeHash: string | null): string {
  return homeHash === null ? "another program" : `another gateway (home ${homeHash})`;
}

/** Why there is no gateway to speak to, without a full stop. */
export function describeMissing(lookup: Exclude<GatewayLookup, { kind: "running" }>): string {
  switch (lookup.kind) {
    case "silent":
      return `this home's gateway (process ${lookup.pid}) does not answer at ${lookup.url}`;
    case "elsewhere":
      return `this home's gateway runs on ${lookup.host} (process ${lookup.pid}), out of reach from here`;
    case "stranger":
      return `${nameStranger(lookup.homeHash)} answers on port ${lookup.port}; this home's gateway is not running`;
    case "none":
      return "no gateway is running";
  }
}

/** Whoever uses a port that is not ours; null when nobody does. */
export async function findStranger(port: number): Promise<{ homeHash: string | null } | null> {
  if (port === 0) return null;
  const answer = await askHealth(port, { nonce: newNonce(), timeoutMs: STRANGER_MS });
  if (answer.kind === "closed") return null;
  return { homeHash: answer.kind === "silent" ? null : homeHashIn(answer.health) };
}

async function whoElse(port: number): Promise<GatewayLookup> {
  const stranger = await findStranger(port);
  return stranger === null ? { kind: "none", port } : { kind: "stranger", port, ...stranger };
}

function ownGateway({ port, pid, secret }: GatewayFile, health: JsonObject): OwnGateway {
  return {
    ...{ url: urlOf(port), pid, health },
    async request(path, { method = "GET", timeoutMs }) {
      const headers = { [REQUEST_PROOF]: proofOfRequest(secret, { method, path }) };
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
function homeHashIn({ home }: JsonObject): string | null {
  return typeof home === "string" && /^[0-9a-f]{16}$/.test(home) ? home : null;
}

const urlOf = (port: number) => `http://127.0.0.1:${port}`;
