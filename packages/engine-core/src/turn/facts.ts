// What happens in a turn, as a versioned list of data.
import type {
  AssembleResult,
  AssistantMessage,
  ErrorCode,
  UserMessage,
} from "@clew/plugin-sdk/core";
import type {
  CompactionTrigger,
  MessageTokens,
  ModelError,
  PolicyChange,
  PolicySideRecord,
  SessionPace,
  ToolDefinition,
} from "@clew/plugin-sdk/host";
import type { TokenEstimate } from "@clew/plugin-sdk/tokens";
import type { SessionProjection, TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { ExecutionEvent } from "../execution-port.ts";
import type { Remedy } from "../recovery/remedy.ts";
import type { EngineCallReport, EngineFailure } from "../report/engine-call.ts";
import type { ReportParts } from "../report/item.ts";
import type { ModelCallReport } from "../report/model-call.ts";
import type { ViewItem } from "../request/view-item.ts";
import type { PendingTurn } from "../session/pending-turns.ts";
import type { ToolOutcome } from "../tool-outcome.ts";
import type { HostSession } from "../transcript-port.ts";
import type { CompactionOutcome } from "./compaction.ts";
import type { AppendedAs, MaintenanceReason } from "./effects.ts";
import type { PromptAdditions } from "./turn-request.ts";

/** Another number means other facts. */
export const FACTS_VERSION = 1;

/** What an engine chose, resolved to what the host knows. */
export interface Choice {
  items: readonly ViewItem[];
  /** Recognised by content because the engine gave no ids. */
  aligned: number;
  /** What the pairing repair changed. */
  repairs: readonly PolicyChange[];
  /** The host's estimate of it. */
  sum: TokenEstimate;
  addition: string | undefined;
  engineEstimate: number | null;
  promptAuthority: NonNullable<AssembleResult["promptAuthority"]>;
  projection: NonNullable<AssembleResult["contextProjection"]> | null;
}

/** Answers to what the turn asked for. */
export type Answer =
  | { type: "settled" }
  /** `ids`: of all messages of the branch; only at an engine's first sight. */
  | {
      type: "surveyed";
      firstSight: boolean;
      /** At first sight: what there is. */
      ids: readonly string[];
      /** At first sight: of these, what came after the last reply. */
      unanswered: readonly string[];
      turns: readonly PendingTurn[];
    }
  | { type: "bootstrapped"; ok: boolean }
  | { type: "maintained"; reason: MaintenanceReason }
  | { type: "delivered"; turnId: string; ok: boolean; reason: string }
  | { type: "recorded" }
  | { type: "appended"; as: AppendedAs; entries: readonly TranscriptEntry[] }
  | {
      type: "read";
      history: readonly ViewItem[];
      changes: readonly PolicyChange[];
      sideRecords: readonly PolicySideRecord[];
      /** What the session remembers that the model refused. */
      remedies: readonly Remedy[];
      projections: readonly SessionProjection[];
    }
  | { type: "assembled"; choice: Choice; turn: readonly ViewItem[]; again: boolean }
  | { type: "not-assembled"; reason: string }
  | { type: "hooked"; additions: PromptAdditions }
  | {
      type: "composed";
      items: readonly ViewItem[];
      size: MessageTokens;
      unwindowed: MessageTokens | null;
      /** Estimated tokens of the newest exchange. */
      newestTokens: number;
      /** What the session's past says of its future. */
      pace: SessionPace;
      /** What the provider counted for the last prompt of the session; 0 = it did not. */
      lastPromptTokens: number;
      /** What this request offers. Absent: what the last one did. */
      tools?: readonly ToolDefinition[];
    }
  | {
      type: "answered";
      ms: number;
      call: ModelCallReport | null;
      parts: ReportParts;
      requestHash: string;
      /** When it ended, ms since the epoch. */
      at: number;
      /** Something of the reply was shown to a person. */
      shown: boolean;
      outcome:
        | { ok: true; message: AssistantMessage }
        | { ok: false; error: ModelError; partial: AssistantMessage };
    }
  | { type: "execution-begun" }
  | {
      type: "executed";
      event: ExecutionEvent;
      ms: number;
      /** When it was told, ms since the epoch. */
      at: number;
      /** Of a model call that is over. */
      call: ModelCallReport | null;
      parts: ReportParts;
    }
  | {
      type: "tool-ran";
      name: string;
      ms: number;
      /** When it ended, ms since the epoch. */
      at: number;
      outcome: ToolOutcome;
      aborted: boolean;
    }
  /** What people said since the turn began, oldest first. */
  | { type: "listened"; said: readonly Omit<UserMessage, "role">[] }
  | {
      type: "cut";
      /** Stored results that are shorter now; 0 = nothing was done. */
      results: number;
      /** By how much requests became smaller, estimated. */
      freedTokens: number;
    }
  | { type: "told" }
  | { type: "compacted"; trigger: CompactionTrigger; ms: number; outcome: CompactionOutcome }
  /** Null: the session stays where it is. */
  | { type: "adopted"; session: HostSession | null; promptEntryId: string | null };

/** What happens beside the answers. */
export type Occurrence =
  | { type: "opened"; now: number }
  | { type: "engine-called"; call: EngineCallReport }
  | { type: "engine-set-aside"; failure: EngineFailure; ownsCompaction: boolean }
  /** Entries were appended again under new ids, old id → new id. */
  | { type: "rewritten"; remapped: ReadonlyMap<string, string> }
  | { type: "aborted" }
  /** The host, or an engine under `strict`, threw. */
  | { type: "broke"; message: string; code?: ErrorCode; byEngine: boolean }
  | { type: "closed"; ms: number };

export type Fact = Answer | Occurrence;
