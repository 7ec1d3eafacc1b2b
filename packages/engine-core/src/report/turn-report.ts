// The shape of the turn report, which records everything that happened in one turn.
import type { CompactCode, ErrorCode } from "@clew/plugin-sdk/core";
import type { CompactionTrigger, ModelError, PolicyChange } from "@clew/plugin-sdk/host";
import type { Remedy } from "../recovery/remedy.ts";
import type { BudgetReport, EngineCallReport, EngineFailure } from "./engine-call.ts";
import type { ExecutionReport } from "./execution.ts";
import type { ModelCallReport, SideCallReport } from "./model-call.ts";
import type { PassedRequest } from "./passed-request.ts";

/** One call of a tool. */
export interface ToolCallReport {
  /** As the model wrote it. */
  name: string;
  /** Until its outcome was there. */
  durationMs: number;
  /** True: it failed or was refused. */
  isError: boolean;
  /**
   * Who allowed it, or why it did not run or failed, as the model was told. Absent: there is
   * nothing to say.
   */
  note?: string;
}

/** What happened to a server that offers tools. */
export interface ToolServerNote {
  /** Its name in the settings. */
  server: string;
  /**
   * "away": its tools are not offered until it is back · "off": not until somebody asks for it ·
   * "changed": it offers others · "odd": it says what nobody understands, or too much.
   */
  kind: "starting" | "away" | "back" | "off" | "changed" | "odd";
  /** For people. */
  text: string;
}

/** One compaction, whoever did it. */
export interface CompactionReport {
  /** What asked for it. */
  trigger: CompactionTrigger;
  /** False: it should have worked and did not. */
  ok: boolean;
  /** True: the context is smaller. */
  compacted: boolean;
  /** Why it did nothing, or less than it could, for programs. Absent: nothing to say. */
  code?: CompactCode;
  /** The same for people. */
  reason: string | null;
  /** Tokens of the context's messages, as the compactor counts them; null = not told. */
  tokensBefore: number | null;
  /** The same afterwards; null = not told. */
  tokensAfter: number | null;
  /** Summaries included. */
  durationMs: number;
  /** Model calls of the turn that were made before it. Absent: by a host of an earlier version. */
  afterCalls?: number;
}

/** What was done about a failed model call, besides compactions. */
export interface RecoveryReport {
  /** "provider/model" that failed. */
  model: string;
  /** How. */
  kind: ModelError["kind"];
  /** "remedy": it was asked again, differently · "fallback": another one was asked. */
  action: "remedy" | "fallback";
  /** What was sent differently. Absent: another model was asked. */
  remedy?: Remedy["kind"];
  /** "provider/model" that was asked instead. Absent: it was asked again itself. */
  to?: string;
  /** How long its provider wants to be left alone, ms. Absent: it did not say. */
  retryAfterMs?: number;
  /** What the provider said, for people. */
  message: string;
}

/** Whose failure a turn without a reply is: the model call's, the engine's, or the host's. */
export type FailureKind = ModelError["kind"] | "engine" | "host";

/** One turn, as a versioned JSON value; its size grows with the turn, not with the history. */
export interface TurnReport {
  /** Another number means another shape. */
  v: 1;
  /** Unique. */
  turnId: string;
  /** The transcript the turn ended in. */
  sessionId: string;
  /** Stable name of the session. */
  sessionKey: string;
  /** ISO 8601. */
  startedAt: string;
  /** From the request to its end. */
  durationMs: number;
  /** Time that was neither model, nor tool, nor engine. */
  hostMs: number;
  /** "completed": a reply was accepted, or a compaction that was asked for went well. */
  outcome: "completed" | "failed" | "aborted";
  /** Why it has no reply, for programs: the error's code where it has one, else its kind. */
  code?: FailureKind | ErrorCode;
  /** The same for people. */
  reason: string | null;
  /** As asked for, as it answered, and by which wire. */
  model: {
    requested: string;
    resolved: string;
    api: string;
    /** Why another one answered than was asked for. Absent: none did, or a person chose it. */
    fallback?: ModelError["kind"];
  };
  /** Which engine the slot names, which one answered, and why. */
  engine: {
    /** The slot's value; null = not configured. */
    configured: string | null;
    /**
     * Registered id of the engine the turn began with. With `degraded` set, the fallback answered
     * in its place from that failure on, and calls behind it name it.
     */
    ran: string;
    infoId: string;
    name: string;
    source: "configured" | "default";
    ownsCompaction: boolean;
    /** Why another engine than the configured one ran. */
    degraded: EngineFailure | null;
    /**
     * How the engine would have its assembly enter a backend that keeps its own thread; the
     * embedded runner has none and ignores it.
     */
    projection: { mode: string; epoch: string | null } | null;
  };
  /** Which program ran the turn. Absent: none, the embedded runner did. */
  execution?: ExecutionReport;
  /** What could not be done as it should, for people; the host adds it. Absent: nothing. */
  notices?: string[];
  /** How the engine is told of turns. */
  lifecycle: "eager" | "durable";
  /** In order. */
  engineCalls: EngineCallReport[];
  /** Null: the turn ended before it was known. */
  budget: BudgetReport | null;
  /** The person's message in the transcript; null = it was not stored. */
  promptEntryId: string | null;
  /** The accepted reply in the transcript; null = there is none. */
  replyEntryId: string | null;
  /** Repairs of the stored history, before assembly. */
  historyChanges: PolicyChange[];
  /** In order, tool loop included. */
  modelCalls: ModelCallReport[];
  /**
   * Model calls besides those, in order, until the turn was over; the host adds them. Absent: none
   * were made.
   */
  sideCalls?: SideCallReport[];
  /** What was done about failed calls, in order. Absent: nothing had to be. */
  recoveries?: RecoveryReport[];
  /** In order. */
  toolCalls: ToolCallReport[];
  /** In order. */
  compactions: CompactionReport[];
  /** What the engine has not taken when the turn is over. Absent: it has all there is. */
  deliveries?: {
    /** Turns it is offered again. */
    pending: number;
    /** First message ids of turns it refused three times and is not offered any more. */
    blocked: string[];
  };
  /**
   * Stored tool results that were shortened all at once, because no compaction could help. Absent:
   * none were.
   */
  cut?: {
    /** How many. */
    results: number;
    /** By how much requests became smaller, estimated tokens. */
    freedTokens: number;
  };
  /** What was odd about the engine's views. Absent: nothing was. */
  views?: {
    /** Messages without an id that were recognised by their content. Absent: none. */
    aligned?: number;
    /** Calls that went without the engine's choice, which the host could not use. Absent: none. */
    fallbacks?: number;
  };
  /**
   * What the memory plugin said in the system prompt; the host adds it. Absent: nothing remembers.
   */
  memory?: {
    /** Its id. */
    plugin: string;
    /** Of its section, UTF-8; 0 = it said nothing. */
    bytes: number;
    /** Who put it there; "nobody": the engine left it out. Absent: it said nothing. */
    shownBy?: "host" | "engine" | "nobody";
  };
  /**
   * Of a request that a client sent with a history of its own, and its host passed on; the host
   * adds it. Absent: the history is the host's.
   */
  door?: PassedRequest;
  /**
   * What became known of servers that offer tools while it ran; the host adds it. Absent: nothing.
   */
  toolServers?: ToolServerNote[];
  /**
   * What plugins asked their host for while it ran, and were refused; the host adds it. Absent:
   * nothing.
   */
  refusals?: {
    /** Its id. */
    plugin: string;
    /** What it called, as in "subagent.run". */
    asked: string;
    /** For people. */
    reason: string;
  }[];
}
