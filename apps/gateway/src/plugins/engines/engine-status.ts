// What is known about the engine that answers an agent.

import {
  CLEW_EMBEDDED_HOST,
  type EngineFailure,
  type EngineGuard,
  evaluateHostSupport,
  FALLBACK_ENGINE_ID,
  type QuarantineRecord,
  type ResolvedEngine,
} from "@clew/engine-core";
import type { ContextEngineInfo, HostCapability } from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import { counted } from "../../text/number.ts";
import type { PluginHost } from "../host.ts";
import { messageOf } from "../invalid.ts";
import { describeStrays } from "../strays.ts";
import type { RecentTurns } from "./recent-turns.ts";

export interface EngineStatus {
  agentId: string;
  /** The slot's value; null = unset, blank or "none". */
  configured: string | null;
  /** Registered id of the engine that answers. */
  engineId: string;
  /** What it calls itself. */
  infoId: string;
  name: string;
  version: string | null;
  /** "core", or "plugin:<id>". */
  owner: string;
  source: "configured" | "default";
  /** Why the configured engine is deliberately not used. */
  switchedOff: string | null;
  /** Why it is not used although it should be. */
  degraded: EngineFailure | null;
  ownsCompaction: boolean;
  lifecycle: "eager" | "durable";
  backgroundMaintenance: boolean;
  /** Optional methods it has. */
  methods: string[];
  /** Host capabilities it needs for a run and does not get: then no run starts. */
  missing: HostCapability[];
  missingMessage: string | null;
  quarantined: readonly QuarantineRecord[];
  recent: RecentTurns;
  /** What the engine says of its own store, where it can be asked. */
  store: { ok: boolean; text: string } | null;
}

const OPTIONAL_METHODS = [
  "bootstrap",
  "maintain",
  "ingestBatch",
  "afterTurn",
  "commitTurn",
  "prepareSubagentSpawn",
  "onSubagentEnded",
] as const;
const STORE_CHECK_MS = 5000;

export async function engineStatus(request: {
  agentId: string;
  engine: ResolvedEngine;
  quarantined: readonly QuarantineRecord[];
  recent: RecentTurns;
}): Promise<EngineStatus> {
  const { agentId, engine, quarantined, recent } = request;
  const { guard, configured, source, switchedOff, degraded } = engine;
  const info = guard.info();
  const entered = guard.enter({});
  entered.release();
  const support =
    guard.engineId === FALLBACK_ENGINE_ID
      ? { ok: true as const }
      : evaluateHostSupport(info, "agent-run", CLEW_EMBEDDED_HOST);
  return {
    ...{ agentId, configured, source, switchedOff, degraded, quarantined, recent },
    engineId: guard.engineId,
    infoId: info.id,
    name: info.name,
    version: info.version ?? null,
    owner: guard.owner,
    ownsCompaction: info.ownsCompaction === true,
    lifecycle: isDurable(info) && typeof entered.commitTurn === "function" ? "durable" : "eager",
    backgroundMaintenance: info.turnMaintenanceMode === "background",
    methods: OPTIONAL_METHODS.filter((name) => typeof entered[name] === "function"),
    missing: support.ok ? [] : support.missing,
    missingMessage: support.ok ? null : support.message,
    store: await askStore(guard.extension("control")),
  };
}

const isDurable = ({ transcriptSemantics: semantics }: ContextEngineInfo) =>
  semantics?.currentTurnFence === "before-current-turn-entry-v1" &&
  semantics.turnAdvancementIdempotency === "atomic-idempotent-v1";

/**
 * Engines may offer `control({ operation: "doctor" })`; not part of the contract, so nothing is
 * made of a failure but its text.
 */
async function askStore(
  control: ReturnType<EngineGuard["extension"]>,
): Promise<EngineStatus["store"]> {
  if (control === undefined) return null;
  const onTimeout = () => {
    throw new Error(`no answer within ${STORE_CHECK_MS / 1000} s`);
  };
  try {
    const answer = (await within<unknown>({ boundMs: STORE_CHECK_MS, onTimeout }, () =>
      control({ operation: "doctor" }),
    )) as { ok?: unknown; text?: unknown } | undefined;
    const text = typeof answer?.text === "string" ? answer.text : JSON.stringify(answer ?? null);
    return { ok: answer?.ok !== false, text: text.slice(0, 500) };
  } catch (error) {
    return { ok: false, text: messageOf(error) };
  }
}

/**
 * What is wrong with the plugin of the chosen engine; null when nothing is, or nobody knows whose
 * the engine is.
 */
export function pluginProblem(
  { configured }: EngineStatus,
  plugins: PluginHost | undefined,
): string | null {
  if (configured === null || plugins === undefined) return null;
  const owner = plugins.ownerOf(configured) ?? configured;
  const record = plugins.records().find(({ id }) => id === owner);
  if (record?.status === "error") return record.reason;
  return record?.strays ? `${describeStrays(record.strays)}.` : null;
}

/** Pure. The answer to `/engine`. */
export function describeEngine(status: EngineStatus, problem: string | null = null): string {
  const { engineId, infoId, name, version, configured, owner, degraded, switchedOff, recent } =
    status;
  const own = infoId === engineId ? "" : `, calls itself "${infoId}"`;
  const from = owner.startsWith("plugin:") ? `, of plugin "${owner.slice("plugin:".length)}"` : "";
  const lines = [
    `Engine: ${engineId} (${name}${version === null ? "" : ` ${version}`}${own}${from})`,
    `Chosen by: ${configured === null ? "default, plugins.slots.contextEngine is not set" : `plugins.slots.contextEngine = ${configured}`}`,
  ];
  if (switchedOff !== null) lines.push(`The chosen one does not run: ${switchedOff}.`);
  if (degraded !== null)
    lines.push(
      `The chosen one does not run: it failed (${degraded.operation}: ${degraded.reason}).`,
    );
  if (problem !== null) lines.push(`Its plugin: ${problem}`);
  lines.push(
    `Lifecycle: ${status.lifecycle}; ${status.ownsCompaction ? "compacts for itself" : "leaves compaction to the host"}; has ${status.methods.join(", ") || "no optional methods"}`,
  );
  lines.push(
    `Last ${counted(recent.turns, "turn")}: ${recent.degraded} answered by another engine, ${counted(recent.compactions, "compaction")}, of which ${recent.idleCompactions} without effect`,
  );
  if (recent.lastDegraded !== null)
    lines.push(
      `Last time it failed: ${recent.lastDegraded.at} (${recent.lastDegraded.operation}: ${recent.lastDegraded.reason})`,
    );
  if (status.store !== null)
    lines.push(`Store: ${status.store.ok ? "" : "PROBLEM: "}${status.store.text}`);
  return lines.join("\n");
}
