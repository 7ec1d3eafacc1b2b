// What a host lends where turns run in a program that asks the model itself.
import type {
  AgentMessage,
  AssistantMessage,
  ErrorCode,
  ToolCallBlock,
  ToolResultMessage,
  Usage,
} from "@clew/plugin-sdk/core";
import type {
  CallAsk,
  ModelError,
  ModelRef,
  TokenBudget,
  ToolDefinition,
} from "@clew/plugin-sdk/host";
import type { ExecutionHost } from "./execution-host.ts";
import type { ExecutionProjection } from "./report/execution.ts";
import type { SystemPart } from "./request/request-items.ts";
import type { ToolOutcome } from "./tool-outcome.ts";
import type { HostSession } from "./transcript-port.ts";

/**
 * A program in whose hands the model calls of a turn are. What it declares in `capabilities`
 * decides the order of the turn: without "assemble-before-prompt" it is told the person's message
 * alone.
 */
export interface ExecutionPort extends ExecutionHost {
  /** Names the program in `runtimeSettings.runtime.harnessId` and in reports. */
  harnessId: string;
  /**
   * Tokens of a session's thread that the program leaves alone; budgets go by it where the model
   * holds more. Absent, or undefined: as many as the model holds.
   */
  windowTokens?(session: HostSession, model: ModelRef): number | undefined;
  /** Begins a turn; what goes wrong with the program is an `end` event, not a throw. */
  begin(turn: ExecutionTurn): ExecutionRun;
  /**
   * Told that the session's context was made smaller by somebody else: the program gets it anew at
   * its next turn. Absent: it need not know.
   */
  compacted?(session: HostSession): void;
}

/** One message that a program is handed. */
export interface ExecutionItem {
  /** As its provider's rules want it. */
  message: AgentMessage;
  /** `messageId` of the stored message it is, or is made from; null = the engine made it. */
  id: string | null;
}

/** What a program is asked for. */
export interface ExecutionTurn {
  /** As in its report. */
  turnId: string;
  /** Whose turn it is. */
  session: HostSession;
  /** Who should answer. */
  model: ModelRef;
  /** What its calls should ask besides their messages. */
  ask: CallAsk;
  /** Who chose `history`: its registered id, and whether it alone decides what is compacted. */
  engine: { id: string; ownsCompaction: boolean };
  /** The host's parts of the system prompt and those of hooks, in order. */
  system: readonly SystemPart[];
  /** The engine's part of it; null = none. */
  addition: string | null;
  /** What the model may call; the host runs it. */
  tools: readonly ToolDefinition[];
  /** What the engine chose of what was before the turn; empty without "assemble-before-prompt". */
  history: readonly ExecutionItem[];
  /** The turn's own messages, the person's first; more than that one only in another attempt. */
  turn: readonly ExecutionItem[];
  /**
   * Id of the newest message of the transcript before the turn, with those that `history` leaves
   * out but without failures that say nothing; null = there is none.
   */
  before: string | null;
  /** How the engine would have its choice enter; null = it does not say, so anew at each turn. */
  projection: {
    mode: "per_turn" | "thread_bootstrap";
    epoch: string | null;
    fingerprint: string | null;
  } | null;
  /** How the window is divided. */
  budget: TokenBudget;
  /** Fires when the turn is to end: the run then ends as "interrupted". */
  signal: AbortSignal;
  /** What is written right now, for display only; what counts comes as an event. */
  onDelta(delta: { type: "text" | "thinking"; delta: string }): void;
}

/** A turn under way in a program. */
export interface ExecutionRun {
  /**
   * What happened next. `answer` says what became of the event before: it is durable by then. After
   * `end` nothing is asked for any more.
   */
  next(answer: ExecutionAnswer): Promise<ExecutionEvent>;
  /** Called once, however the turn ended; an unfinished one is interrupted. */
  close(): void;
}

/** What became of an event. */
export type ExecutionAnswer =
  /** Nothing was asked: go on. */
  | { type: "go-on" }
  /** Its messages are in the transcript, under these ids. */
  | { type: "stored"; ids: readonly string[] }
  /** The tool ran; call and result are in the transcript, under these ids. */
  | { type: "called"; outcome: ToolOutcome; ids: readonly string[] };

/** One thing that happened in a program; only what is complete is told. */
export type ExecutionEvent =
  /** The program has what it needs of the context. */
  | { type: "handed-over"; projection: ExecutionProjection }
  /**
   * Completed: one text of the assistant, or calls that the program ran itself and their results.
   * Stored together, before the next event is asked for. The last text of a turn is its reply.
   */
  | {
      type: "messages";
      messages: readonly (AssistantMessage | ToolResultMessage)[];
      /** How long its tools took, ms. Absent: not known. */
      durationMs?: number;
    }
  /** A tool of the host's is wanted: its call is stored, it runs, its result is stored. */
  | { type: "call"; call: ToolCallBlock }
  /** One model call is over, as its provider billed it. */
  | { type: "usage"; usage: Usage; stopReason?: string }
  /** The program made its thread smaller by itself. */
  | { type: "native-compaction" }
  /** What a person should know; it stands in the report. */
  | { type: "notice"; text: string }
  | { type: "end"; outcome: ExecutionOutcome };

/** How a turn ended in a program. */
export type ExecutionOutcome =
  | { status: "completed" }
  | { status: "interrupted" }
  | {
      status: "failed";
      /** "overflow" compacts the session and begins again, once; nothing else is tried again. */
      error: ModelError;
      /** Of docs/errors.md. Absent: its kind says enough. */
      code?: ErrorCode;
    };
