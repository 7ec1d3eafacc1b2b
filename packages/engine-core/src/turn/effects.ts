// What a turn asks its host to do, as data.
import type { AgentMessage, ToolCallBlock } from "@clew/plugin-sdk/core";
import type { ContextSize, ToolDefinition } from "@clew/plugin-sdk/host";
import type { NewTranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { DeliveryChange } from "../delivery-port.ts";
import type { ExecutionAnswer } from "../execution-port.ts";
import type { CompactionHookEvent } from "../ports.ts";
import type { Remedy } from "../recovery/remedy.ts";
import type { EngineFailure } from "../report/engine-call.ts";
import type { SystemPart } from "../request/request-items.ts";
import type { ViewItem } from "../request/view-item.ts";
import type { CompactionRequest } from "./compaction.ts";
import type { Delivery } from "./delivery.ts";
import type { Assembly, RefusedRequest } from "./turn.ts";
import type { PromptAdditions, TurnEvent } from "./turn-request.ts";

/** When the engine may tidy up. */
export type MaintenanceReason = "bootstrap" | "turn" | "compaction";

/** What an appended message is in its turn. */
export type AppendedAs =
  | "prompt"
  | "reply"
  | "refusal"
  | "tool-result"
  | "executed"
  | "said-meanwhile"
  | "side-records"
  | "prune";

/** Effects that are answered by exactly one fact. */
export type Ask =
  | { do: "settle" }
  | { do: "survey" }
  | { do: "bootstrap" }
  | { do: "maintain"; reason: MaintenanceReason }
  | { do: "deliver"; delivery: Delivery; history: readonly ViewItem[] }
  | { do: "record"; change: DeliveryChange }
  | { do: "append"; as: AppendedAs; entries: readonly NewTranscriptEntry[] }
  | { do: "read"; promptId: string | undefined }
  | {
      do: "assemble";
      /** History; in the eager tool loop, history and running turn. */
      items: readonly ViewItem[];
      promptId: string | undefined;
      /** True: another choice in the middle of a turn. */
      again: boolean;
      /** True: the turn is among the items. */
      withTurn: boolean;
    }
  | { do: "ask-hooks"; prompt: string; messages: readonly AgentMessage[] }
  | {
      do: "compose";
      items: readonly ViewItem[];
      /** True: the running turn is appended. */
      addTurn: boolean;
      promptId: string | undefined;
      additions: PromptAdditions | null;
      /** Given: its size is wanted too. */
      unwindowed: readonly ViewItem[] | null;
    }
  | {
      do: "call-model";
      items: readonly ViewItem[];
      system: readonly SystemPart[];
      tools: readonly ToolDefinition[];
      /** As it was composed. */
      size: ContextSize | null;
      /** What is sent differently because the model refused something. */
      remedies: readonly Remedy[];
      /** A request that is not sent again. */
      refused: RefusedRequest | null;
    }
  | {
      do: "begin-execution";
      items: readonly ViewItem[];
      promptId: string | undefined;
      /** The host's parts and those of hooks. */
      system: readonly SystemPart[];
      /** The engine's part. */
      addition: string | null;
      tools: readonly ToolDefinition[];
      projection: Assembly["projection"];
    }
  | { do: "await-execution"; answer: ExecutionAnswer }
  | { do: "run-tool"; call: ToolCallBlock }
  | { do: "listen" }
  | {
      do: "cut-results";
      /** Tokens to free, estimated. */
      freeTokens: number;
      /** Nothing is cut for less. */
      leastTokens: number;
      /** Without which the request does not fit. */
      mustFreeTokens: number;
    }
  | { do: "tell-before"; event: CompactionHookEvent }
  | { do: "compact"; by: "engine" | "built-in"; request: CompactionRequest }
  | {
      do: "adopt";
      sessionId: string;
      sessionFile: string | undefined;
      promptId: string | undefined;
    }
  | {
      do: "tell-after";
      event: CompactionHookEvent & { compacted: boolean; previousSessionId?: string };
    };

/** Effects that nothing answers. */
export type Tell =
  | { do: "emit"; event: TurnEvent }
  | {
      do: "log";
      level: "info" | "warn" | "error";
      message: string;
      fields?: Record<string, unknown>;
    }
  | { do: "forget-measurement" }
  /** Counted per engine; the third one sets it aside for good. */
  | { do: "bad-view"; failure: EngineFailure }
  | { do: "set-aside"; failure: EngineFailure }
  /** What set the engine aside is out of the way: from the next turn on it is asked again. */
  | { do: "readmit" };

export type Effect = Ask | Tell;

const TELLS: ReadonlySet<Effect["do"]> = new Set<Tell["do"]>([
  "emit",
  "log",
  "forget-measurement",
  "bad-view",
  "set-aside",
  "readmit",
]);

export const isTell = (effect: Effect): effect is Tell => TELLS.has(effect.do);
