// The shape in which a report tells of model calls, and what they cost.
import type { Usage } from "@clew/plugin-sdk/core";
import type { ContextSize, ModelError, PolicyChange, ProviderTold } from "@clew/plugin-sdk/host";
import type { Remedy } from "../recovery/remedy.ts";
import type { ReportItem } from "./item.ts";

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
