// Writes a line of the log for each request at the door.
import type { LogPort } from "@clew/engine-core";
import type { Usage } from "@clew/plugin-sdk/core";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import { headerOf } from "../../passing/raw-headers.ts";
import { visible } from "../../text/visible.ts";
import type { DoorCall } from "./door-call.ts";

export interface LoggedRequest {
  /** Canonical. Null: a first request that was refused has no session. */
  sessionKey: string | null;
  /** What asked, as far as it says so; "" = it does not. */
  client: string;
  wire: string;
  kind: string;
  /** That was asked. */
  model: string;
  outcome: string;
  durationMs: number;
  /** Null: nobody counted. */
  usage: Usage | null;
  /** Why it was refused here. Absent: it was not. */
  reason?: string;
}

export function logDoorRequest(log: LogPort, request: LoggedRequest): void {
  const { outcome, durationMs, usage, ...named } = request;
  log.info(`request at the door ${outcome}`, {
    ...named,
    ...{ outcome, durationMs: Math.round(durationMs) },
    ...(usage !== null && { inputTokens: promptTokensOf(usage), outputTokens: usage.output }),
  });
}

const MOST_CHARS = 60;

/** By the name it gives its conversations, else by what it calls itself first. */
export function clientOf({ headers }: Pick<DoorCall, "headers">, key?: string): string {
  const [family] = key?.split(":") ?? [];
  const [product = ""] = (headerOf(headers, "user-agent") ?? "").split(" ");
  return visible(family ?? product).slice(0, MOST_CHARS);
}
