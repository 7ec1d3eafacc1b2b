// Writes a line of the log for each request at the door.
import type { LogPort, TurnError } from "@clew/engine-core";
import { ContextEngineError, type ErrorCode, isAbort, type Usage } from "@clew/plugin-sdk/core";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import { headerOf } from "../../passing/raw-headers.ts";
import { visible } from "../../text/visible.ts";
import type { DoorWire } from "../wires/door-wire.ts";
import type { DoorCall } from "./door-call.ts";

export interface LoggedRequest {
  /** Canonical. Null: it was refused before there was one. */
  sessionKey: string | null;
  /** What asked, as far as it says so; "" = it does not. */
  client: string;
  wire: string;
  /** Absent: it was refused before that was looked at. */
  kind?: string;
  /** That was asked. */
  model: string;
  outcome: string;
  /** Absent: it was refused at once. */
  durationMs?: number;
  /** Absent or null: nobody counted. */
  usage?: Usage | null;
  /** Why it has no whole reply. Absent: it has. */
  why?: WhyRefused;
}

export interface WhyRefused {
  /** What the client was told. Absent: its reply had begun. */
  status?: number | undefined;
  /** The kind of a model's error, or a code of ours. Absent: the status says enough. */
  failure?: string | undefined;
  /** In one sentence. Absent: nobody knows. */
  reason?: string | undefined;
}

export function logDoorRequest(log: LogPort, request: LoggedRequest): void {
  const { outcome, durationMs, usage, why = {}, ...named } = request;
  const { reason, status, failure } = why;
  const told = reason === undefined ? "" : `: ${visible(reason).slice(0, MOST_REASON)}`;
  log[levelOf(request)](`request at the door ${outcome}${told}`, {
    ...{ ...named, outcome, status, failure },
    ...(durationMs !== undefined && { durationMs: Math.round(durationMs) }),
    ...(usage != null && { inputTokens: promptTokensOf(usage), outputTokens: usage.output }),
  });
}

/** Pure. Whoever runs the gateway need see to no mistake of a client's, nor to one who left. */
export function levelOf({ outcome, why = {} }: Pick<LoggedRequest, "outcome" | "why">) {
  const { failure, status = 500 } = why;
  if (outcome !== "failed" && outcome !== "refused") return "info";
  const isClients = failure === undefined ? status < 500 : CLIENTS_OWN.has(failure);
  return isClients ? "info" : "warn";
}

/** What a client sees to, by asking otherwise or again. */
const CLIENTS_OWN: ReadonlySet<string> = new Set<TurnError["kind"] | ErrorCode>([
  ...(["aborted", "invalid_request", "REQUEST_INVALID", "SESSION_NAME_INVALID"] as const),
  ...(["SESSION_NOT_FOUND", "BACKLOG_FULL", "GATEWAY_STOPPING"] as const),
]);

/** Servers may say much. */
const MOST_REASON = 500;

/** Of what was thrown. */
export const failureOf = (error: unknown): string =>
  ContextEngineError.is(error) ? error.code : isAbort(error) ? "aborted" : "host";

/** Of a request for which there is no session yet. */
export function logRefusal(
  log: LogPort,
  { headers, wire, model }: Pick<DoorCall, "headers"> & { wire: DoorWire; model: string },
  why: WhyRefused,
): void {
  const named = { sessionKey: null, client: clientOf({ headers }), wire: wire.api, model };
  logDoorRequest(log, { ...named, outcome: "refused", why });
}

const MOST_CHARS = 60;

/** By the name it gives its conversations, else by what it calls itself first. */
export function clientOf({ headers }: Pick<DoorCall, "headers">, key?: string): string {
  const [family] = key?.split(":") ?? [];
  const [product = ""] = (headerOf(headers, "user-agent") ?? "").split(" ");
  return visible(family ?? product).slice(0, MOST_CHARS);
}
