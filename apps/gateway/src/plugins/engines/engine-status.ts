// What is known about the engine that answers an agent.

import {
  type DeliveryPort,
  type DeliveryStatus,
  deliveryStatus,
  type EngineFailure,
  type ExecutionHost,
  evaluateHostSupport,
  FALLBACK_ENGINE_ID,
  type QuarantineRecord,
  type ResolvedEngine,
} from "@clew/engine-core";
import type { ContextEngineInfo, HostCapability } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { askStore, type StoreAnswer, type ToldSession } from "./ask-store.ts";
import type { ChosenBy } from "./engine-choice.ts";
import type { RecentTurns } from "./recent-turns.ts";

export interface EngineStatus {
  agentId: string;
  /** As it is written where it is chosen; null = nobody chose, or chose "none". */
  configured: string | null;
  chosenBy: ChosenBy;
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
  /** What the engine says of its own store; null = it has no way to say it. */
  store: StoreAnswer | null;
  /** How the chosen engine stands with one session; null = no session was named. */
  session: SessionEngine | null;
}

export interface SessionEngine {
  key: string;
  /** Why it is set aside for this session alone. */
  setAside: QuarantineRecord | null;
  deliveries: DeliveryStatus;
}

/** The session that is asked about, as its files say. */
export interface AskedSession {
  key: string;
  branch: readonly TranscriptEntry[];
  deliveries: Pick<DeliveryPort, "read">;
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

export async function engineStatus(request: {
  agentId: string;
  engine: ResolvedEngine & { chosenBy: ChosenBy };
  /** Who runs the agent's turns. */
  host: ExecutionHost;
  quarantined: readonly QuarantineRecord[];
  recent: RecentTurns;
  session?: AskedSession | undefined;
  /** Sessions of the agent that the engine was told of, to be asked for first come first. */
  told: () => Promise<readonly ToldSession[]>;
}): Promise<EngineStatus> {
  const { agentId, engine, host, quarantined, recent, session, told } = request;
  const { guard, configured, chosenBy, source, switchedOff, degraded } = engine;
  const info = guard.info();
  const entered = guard.enter({});
  entered.release();
  const support =
    guard.engineId === FALLBACK_ENGINE_ID
      ? { ok: true as const }
      : evaluateHostSupport(info, "agent-run", host);
  return {
    ...{ agentId, configured, chosenBy, source, switchedOff, degraded, quarantined, recent },
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
    store: await askStore(guard, told),
    session: session === undefined ? null : sessionEngine(session, engine, quarantined),
  };
}

/** An engine that does not run does not say which version it is: then every refusal counts. */
function sessionEngine(
  { key, branch, deliveries }: AskedSession,
  { guard, configured }: ResolvedEngine,
  quarantined: readonly QuarantineRecord[],
): SessionEngine {
  const engineId = configured ?? guard.engineId;
  const version = guard.engineId === engineId ? (guard.info().version ?? null) : undefined;
  const isOfSession = ({ engineId: id, scope }: QuarantineRecord) =>
    id === engineId && scope.kind === "session" && scope.sessionKey === key;
  return {
    key,
    setAside: quarantined.find(isOfSession) ?? null,
    deliveries: deliveryStatus(branch, deliveries.read(engineId), version),
  };
}

const isDurable = ({ transcriptSemantics: semantics }: ContextEngineInfo) =>
  semantics?.currentTurnFence === "before-current-turn-entry-v1" &&
  semantics.turnAdvancementIdempotency === "atomic-idempotent-v1";
