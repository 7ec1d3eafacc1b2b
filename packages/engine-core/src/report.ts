// The shape of the turn report, which records everything that happened in one turn.
import type { CompactCode, ErrorCode, HostCapability, Usage } from "@clew/plugin-sdk/core";
import type {
  CompactionTrigger,
  ContextSize,
  ModelError,
  PolicyChange,
  ProviderTold,
} from "@clew/plugin-sdk/host";
import type { Remedy } from "./recovery/remedy.ts";

/** Where an item of a request comes from. */
export type ItemSource =
  | { kind: "entry"; entryId: string }
  | { kind: "summary"; summaryId: string }
  | { kind: "engine" }
  | { kind: "policy"; rule: string }
  | { kind: "system"; part: string }
  | { kind: "tool-schema"; name: string }
  | { kind: "ledger" };

/**
 * Why an item of a request is there; "prompt" is what the turn answers,
 * "engine" what the engine made.
 */
export type ItemCode = "system-prompt" | "tool-schema" | "history" | "prompt" | "engine";

/** One thing the model was sent. */
export interface ReportItem {
  /** Where it comes from. */
  source: ItemSource;
  /** Role of the message. Absent: it is no message. */
  role?: string;
  /** Why it is there, for programs; kept items say why they were first sent. Default: not known. */
  code?: ItemCode;
  /** The same for people: "history", "prompt", "system prompt", "made by the engine", … */
  reason: string;
  /** What the engine says of why it is there. Absent: it says nothing. */
  engineReason?: string;
  /**
   * Of a summary: which stored messages it stands for, as its engine says: from the first of a
   * stretch (absent: from the first of all) to before the one behind it, by message ids. Absent: it
   * is none, or its engine does not say.
   */
  covers?: { from?: string; until: string }[];
  /**
   * Messages that the provider's rules joined to it, by message ids, in order. Absent: it is one
   * message.
   */
  merged?: string[];
  /** Estimated tokens. */
  tokens: number;
  /** Content hash; names a part in `parts` when the content is not in the transcript. */
  hash: string;
  /**
   * True: the content is not the entry's own (a policy or the engine changed it); the part named by
   * `hash` holds what was sent. Absent: it is the entry's own.
   */
  changed?: true;
  /**
   * The ids of its tool calls as they were sent, in order: they alone make it another content than
   * the entry's, and no part holds it. Absent: it is the entry's own, or a part does.
   */
  callIds?: string[];
}

/** One call of the model: what was sent, what it cost, how it ended. */
export interface ModelCallReport {
  /** Counts this session's model calls in this process, from 0. */
  index: number;
  /** From the request to its end. */
  durationMs: number;
  /** System prompt parts, in order. */
  system: ReportItem[];
  /** Tool schemas, in order. */
  tools: ReportItem[];
  /** As a delta to the previous call of this session; a full list every 64 calls. */
  messages: {
    /** Leading items that are the same as in this session's previous call; 0 in a full list. */
    kept: number;
    /** The items after those. */
    items: ReportItem[];
    /** Estimated tokens of all messages, kept ones included. */
    tokens: number;
  };
  /** How large it was found to be before it was sent. Absent: by a host of an earlier version. */
  size?: Pick<ContextSize, "tokens" | "source" | "water">;
  /** Hash over model, system, tools and messages; equal requests, equal hashes. */
  requestHash: string;
  /**
   * The newest entry of the transcript when it was sent; null = there was none. Absent: by a host
   * of an earlier version.
   */
  leafId?: string | null;
  /** What the policy changed for the wire. */
  policyChanges: PolicyChange[];
  /**
   * Stored messages that the host kept from the model; each is told once, until it is sent again.
   * Absent: none that was not told.
   */
  withheld?: WithheldEntry[];
  /** As billed; null = the provider did not say. */
  usage: Usage | null;
  /**
   * What it came to by an estimate of whoever counts calls, as it broke off before its provider
   * said, or this one says nothing. Absent: nobody estimated it.
   */
  estimated?: Usage;
  /** Why the reply ended; null = there was none. */
  stopReason: string | null;
  /** For people; null = none. */
  error: string | null;
  /**
   * Tokens the model holds, as its provider said when it refused the request as too large. Absent:
   * it did not.
   */
  windowTokens?: number;
  /** Repetitions before the first byte arrived. */
  retries: number;
  /**
   * What tries before the last one came to, each beside `usage`, by an estimate of whoever counts
   * calls: they broke off before their provider said. Absent: nothing, or nobody estimated it.
   */
  resent?: Usage[];
  /** "provider/model" that was asked. Absent: the report's `model.resolved`. */
  model?: string;
  /** Registered id of the engine that chose what was sent. Absent: the report's `engine.ran`. */
  engine?: string;
  /** How it failed, for programs; `error` says it for people. Absent: there is a reply. */
  failure?: {
    kind: ModelError["kind"];
    /** No request reached a server, so nobody bills one. Absent: one may have. */
    unsent?: true;
    /** HTTP status, of "auth" and "not_found". Absent: of another kind, or nobody answered. */
    status?: number;
    retryAfterMs?: number;
    /** What the provider counted of a prompt that it refused as too large. Absent: it did not. */
    promptTokens?: number;
  };
  /** Of its prompt cache. Absent: there is no reply. */
  cache?: CacheReport;
  /** What the provider changed before the model read the request, in its words. Absent: nothing. */
  providerChanges?: string[];
  /** What was asked of this model and not sent to it, and why, in words. Absent: nothing. */
  leftOut?: string[];
  /** What was sent differently because the model had refused something. Absent: nothing. */
  remedies?: Remedy["kind"][];
  /**
   * Id of the program that made it, and its request: listed is what its model was to see of the
   * session, besides what the program adds of its own. Absent: the host made it, and listed is what
   * was sent.
   */
  harness?: string;
  /**
   * Leading messages of the list that the program's thread held already, so that they were not
   * handed over again. Absent: it is no call of a program; or the program's own session shows more
   * than is known here, and listed is only what is known to be in it.
   */
  held?: number;
}

/** A model call besides those that reply. */
export interface SideCallReport {
  /** "engine": through `runtimeContext.llm` · "plugin": through its api · "memory": to store. */
  for: "compaction" | "engine" | "plugin" | "memory";
  /** Id of the plugin that asked. Absent: the host did. */
  plugin?: string;
  /** "provider/model". */
  model: string;
  /** Calls in `modelCalls` that were begun before it. */
  afterCalls: number;
  /** From the request to its end. */
  durationMs: number;
  /** As billed; null = the provider did not say. */
  usage: Usage | null;
  /** As of model calls. Absent: nobody estimated it. */
  estimated?: Usage;
  /** How it failed. Absent: there is an answer. */
  failure?: ModelError["kind"];
  /** As in `ModelCallReport.failure`. */
  unsent?: true;
}

/** A stored message that no engine and no model was shown. */
export interface WithheldEntry {
  /** Of the transcript. */
  entryId: string;
  /** "policy": the provider's rules. */
  by: "host" | "policy";
  /** For people. */
  why: string;
}

/** What the provider's prompt cache was expected to give back, and gave. */
export interface CacheReport {
  /** Tokens expected from it: what begins as the session's last request did, and is still kept. */
  predicted: number;
  /** Tokens read from it; null = the provider did not say. */
  billed: number | null;
  /** Tokens written to it; null = the provider did not say. */
  written: number | null;
  /** Why not all of the last request is expected from it. Absent: it is. */
  broke?: {
    /**
     * "not-cached": nobody knows that this model caches · "not-asked": the request asked for none ·
     * "expired": the last request is too long ago · "messages-changed": from `at` on · "too-small":
     * so little is not kept.
     */
    code:
      | "first-call"
      | "model-changed"
      | "tools-changed"
      | "system-changed"
      | "messages-changed"
      | "expired"
      | "too-small"
      | "not-asked"
      | "not-cached";
    /** Place of the first message that differs. Absent: it is none of the messages. */
    at?: number;
  };
  /**
   * Tokens that stood the same in the model's last answered request: `first` before anything that
   * changed, `moved` behind it. Absent: nothing broke, so `predicted` is all of them; or none.
   */
  repeated?: { first: number; moved: number };
  /** What the provider says of a miss. Absent: nothing. */
  told?: NonNullable<ProviderTold["cacheMiss"]>;
}

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

/** Why another engine answers than the chosen one. */
export interface EngineFailure {
  /** Engine method, or "resolve", "factory", "contract-validation". */
  operation: string;
  /** For people. */
  reason: string;
  /** What programs may act on. Absent: not known. */
  code?: ErrorCode;
}

/** One call of the engine. */
export interface EngineCallReport {
  /** Of the contract. */
  method: string;
  /** Until the host went on, bound included. */
  durationMs: number;
  /** "fallback": the fallback engine answered. */
  outcome: "ok" | "failed" | "fallback" | "timeout" | "aborted";
  /** For people: what went wrong. Absent: nothing did. */
  detail?: string;
}

/** How the window was divided, and what the engine made of its share. */
export interface BudgetReport {
  /** The model's, in tokens like all that follows. */
  contextWindow: number;
  /** Held back for the reply. */
  reserve: number;
  /** Window − reserve. */
  promptBudget: number;
  /** Estimated system prompt, tools and prompt. */
  fixedTokens: number;
  /** What the engine was told it may use. */
  tokenBudget: number;
  /** The host's estimate of what the engine returned. */
  assembled: { estimate: number; low: number; high: number } | null;
  /** What the engine said; null when it did not. */
  engineEstimate: number | null;
  /**
   * Measured / estimated tokens of this model; estimates here are not multiplied by it. Absent: not
   * learned yet, 1.
   */
  tokenRatio?: number;
  /** True: what the engine said is less than the messages can possibly take. Absent: it is not. */
  underEstimated?: true;
  /** Messages the engine could choose from. */
  historyMessages: number;
  /** Messages it chose. */
  assembledMessages: number;
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

/** A request that a client sent with a history of its own. */
export interface PassedRequest {
  /** Api that both sides speak. */
  wire: string;
  /** By what its session was found; "nothing": it began one. */
  matchedBy: string;
  /** Only a "turn" moves its session on. */
  kind: "turn" | "side" | "compaction";
  /** Key of the session that started this one. Absent: none is known. */
  parent?: string;
  /** Of the client's list, without what leads it. */
  messages: {
    /** Stored now. */
    fresh: number;
    /** Stored before. */
    known: number;
    /** Of these, sent otherwise than before. */
    edited: number;
  };
  /** True: the client goes on from a summary of its own. Absent: it does not. */
  restarted?: true;
  /** Calls of the session's own tools, which no client sees. Absent: its model called none. */
  lookedUp?: number;
  /** What the model was sent of it. Absent: nothing. */
  view?: {
    /** Of the whole request. */
    tokens: number;
    /** That are not in it. */
    setAside: number;
    /** Messages that are not in it. */
    leftOut: number;
    /** True: it is the first request with this view. */
    moved: boolean;
    /** The client's limit of the reply, and what it was lowered to. Absent: it stands. */
    replyLimit?: { from: number; to: number };
  };
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

/** How the context entered a program that keeps a thread of its own. */
export interface ExecutionProjection {
  /** "continued": one that had it already got what it lacked · "per-turn": one for this turn. */
  thread: "new" | "continued" | "per-turn";
  /** The program's id of it. */
  threadId: string;
  /** Why this one, for people: "the engine began another epoch". */
  reason: string;
  /** "prompt": the person's message alone. */
  as: "items" | "quoted" | "prompt";
  /** Newest messages of what the engine chose and the turn holds that were handed over now. */
  handed: number;
  /**
   * Id of the first stored message that a session of the program's own was handed: what was said
   * before it does not know. Absent: not known, or the thread has what the engine chose.
   */
  knowsFrom?: string;
  /**
   * True: the program made the thread smaller in an earlier turn, so that nobody here knows what it
   * still shows of that. Absent: it did not.
   */
  isCompacted?: true;
}

/** Which program ran the turn. */
export interface ExecutionReport {
  /** Of its host, as engines are told: "codex-app-server". */
  id: string;
  /** Of the program. */
  harnessId: string;
  /** For people. */
  label: string;
  /** What an engine may require and this host cannot do; empty: nothing. */
  cannot: HostCapability[];
  /** How the context entered, once per attempt. */
  projections: ExecutionProjection[];
  /** How often the program made its thread smaller by itself. */
  nativeCompactions: number;
  /** What was odd, for people. Absent: nothing. */
  notices?: string[];
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

/**
 * Contents named by hash that a host stores once: system parts, tool schemas, messages that
 * are in no transcript entry.
 */
export type ReportParts = Record<string, string>;
