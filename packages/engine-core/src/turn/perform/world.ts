// What a turn's effects work on.
import { type AgentMessage, type CompactResult, isAbort } from "@clew/plugin-sdk/core";
import type { PolicyChange } from "@clew/plugin-sdk/host";
import type { DeliveryLine, DeliveryPort } from "../../delivery-port.ts";
import type { GuardedEngine } from "../../engine/guard.ts";
import { FALLBACK_ENGINE_ID } from "../../engine/registry.ts";
import type { ExecutionRun } from "../../execution-port.ts";
import type { HostPorts } from "../../ports.ts";
import type { RequestMemory } from "../../request/request-items.ts";
import type { SessionState } from "../../session/session-state.ts";
import type { HostSession, TranscriptPort } from "../../transcript-port.ts";
import type { Ask } from "../effects.ts";
import type { SeenEntries } from "../executed-calls.ts";
import type { Answer, Occurrence } from "../facts.ts";
import type { TurnSetup } from "../turn.ts";
import type { TurnRequest } from "../turn-request.ts";

export interface ExecutionUnderWay {
  run: ExecutionRun;
  asked: Extract<Ask, { do: "begin-execution" }>;
  /** What its model is to see, as the provider's rules want it: the engine's choice, the turn. */
  view: {
    history: readonly AgentMessage[];
    turn: readonly AgentMessage[];
    changes: readonly PolicyChange[];
  };
  /** Leading messages of it that its thread has; null = what it shows is not known here. */
  held: number | null;
  /** A call was reported: its thread has all of the view since. */
  isTold: boolean;
  /** Of the calls of this turn. */
  memory: RequestMemory;
  /** Entries of the branch when it began, or when its thread was made smaller. */
  knownFrom: number;
  /** What the newest call was made on; null = there was none. */
  seen: SeenEntries | null;
  /** When the call that is made now began; monotonic ms. */
  since: number;
}

export interface World {
  /** As the turn has it now: another model may have to answer. */
  setup: TurnSetup;
  readonly request: TurnRequest;
  readonly ports: HostPorts;
  readonly state: SessionState;
  readonly engine: GuardedEngine;
  readonly signal: AbortSignal;
  /** Somebody is shown what arrives. */
  readonly isWatched: boolean;
  /** A compaction may move the session to a successor. */
  transcript: TranscriptPort;
  /** What the engine acknowledged or refused just now, for a store that takes it with an append. */
  held: readonly DeliveryLine[];
  /** What the host's compaction came to when the engine left it to it; null = it did not. */
  delegated: CompactResult | "started" | null;
  /** The model call that is being answered; null = none is. */
  calling: Pick<Extract<Answer, { type: "answered" }>, "call" | "parts"> | null;
  /** The turn under way in a program; null = none is. */
  execution: ExecutionUnderWay | null;
  /** Settles when no rewrite of the transcript is under way. */
  rewriting: Promise<unknown>;
  /** Told of what happens beside the answers. */
  readonly occurred: (fact: Occurrence) => void;
}

export const sessionOf = ({ transcript }: World): HostSession => transcript.session;

/** Where engines find the transcript; nothing when this host keeps no file. */
export function sessionFileOf(world: World): Pick<HostSession, "sessionFile"> {
  const { sessionFile } = sessionOf(world);
  return sessionFile === undefined ? {} : { sessionFile };
}

/**
 * Where deliveries are recorded: beside the transcript, or in memory. The fallback keeps nothing
 * that a restart could make it miss.
 */
export const ledgerOf = ({ setup, transcript, state }: World): DeliveryPort =>
  setup.engine.id === FALLBACK_ENGINE_ID
    ? state.deliveries
    : (transcript.deliveries ?? state.deliveries);

/** Throws what ends the turn: an abort that was asked for, and every failure of a strict engine. */
export function throwIfFatal({ signal, request }: World, error: unknown): void {
  if ((signal.aborted && isAbort(error, signal)) || request.engine.guard.policy === "strict")
    throw error;
}
