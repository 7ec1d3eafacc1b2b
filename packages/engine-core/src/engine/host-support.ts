// Whether a host offers the capabilities that an engine requires for an operation.
import {
  ContextEngineError,
  type ContextEngineInfo,
  type EngineOperation,
  type HostCapability,
} from "@clew/plugin-sdk/core";
import type { ExecutionHost } from "../execution-host.ts";
import { readQuietly } from "./describe-error.ts";

/** Everything that an engine may require. */
export const HOST_CAPABILITIES: readonly HostCapability[] = [
  "bootstrap",
  "assemble-before-prompt",
  "after-turn",
  "maintain",
  "compact",
  "runtime-llm-complete",
  "thread-bootstrap-projection",
];

const EMBEDDED: readonly HostCapability[] = [
  "bootstrap",
  "assemble-before-prompt",
  "after-turn",
  "maintain",
  "compact",
  "runtime-llm-complete",
];

/** A host that runs turns with this package. */
export const CLEW_EMBEDDED_HOST: ExecutionHost = {
  id: "clew-embedded",
  label: "Clew embedded runner",
  capabilities: EMBEDDED,
};

/** Who runs turns where these ports are lent. */
export const hostOf = (ports: { execution?: ExecutionHost }): ExecutionHost =>
  ports.execution ?? CLEW_EMBEDDED_HOST;

/** Whether an operation may run, and the sentence to show when it may not. */
export type HostSupport = { ok: true } | { ok: false; missing: HostCapability[]; message: string };

/**
 * Compares what `info` requires for `operation` with what `host` offers (contract §2.6). What is no
 * requirement requires nothing: an engine whose info is wrong is set aside for that elsewhere.
 */
export function evaluateHostSupport(
  info: ContextEngineInfo,
  operation: EngineOperation,
  host: ExecutionHost,
): HostSupport {
  const requirement = readQuietly(() => info.hostRequirements?.[operation]);
  const required = readQuietly(() => listOf(requirement?.requiredCapabilities)) ?? [];
  const hint = readQuietly(() => requirement?.unsupportedMessage);
  const missing = required.filter((capability) => !host.capabilities.includes(capability));
  if (missing.length === 0) return { ok: true };
  const message =
    `Context engine "${info.id}" cannot run operation "${operation}" on ${host.label}. ` +
    `Missing host capabilities: ${missing.join(", ")}. Required capabilities: ${required.join(", ")}. ` +
    `Host capabilities: ${host.capabilities.join(", ") || "(none)"}.`;
  return {
    ok: false,
    missing,
    message: typeof hint === "string" && hint !== "" ? `${message} ${hint}` : message,
  };
}

const listOf = (value: unknown): HostCapability[] =>
  Array.isArray(value)
    ? Array.from(value as unknown[], String).map((name) => name as HostCapability)
    : [];

/** Throws HOST_CAPABILITY_MISSING, before anything ran: neither a quarantine nor a fallback. */
export function assertHostSupport(
  info: ContextEngineInfo,
  operation: EngineOperation,
  host: ExecutionHost,
): void {
  const support = evaluateHostSupport(info, operation, host);
  if (!support.ok)
    throw new ContextEngineError("HOST_CAPABILITY_MISSING", support.message, {
      engineId: info.id,
      operation,
    });
}
