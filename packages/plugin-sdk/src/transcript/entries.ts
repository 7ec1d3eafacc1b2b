// What one line of a session file may be, and the schema that checks it.
import { z } from "zod";
import { type AgentMessage, AgentMessageSchema, type UserBlock } from "../contract/message.ts";

/** Format version this package writes; files of versions 1 and 2 are migrated when read. */
export const TRANSCRIPT_VERSION = 3;

/** First line of a session file; not part of the tree. */
export interface TranscriptHeader {
  type: "session";
  version: number;
  id: string;
  /** ISO 8601. */
  timestamp: string;
  cwd: string;
  parentSession?: string;
}

interface EntryBase {
  /** Unique in the file; 8 hex digits when written by us. */
  id: string;
  /** The entry this one follows; null at the root. */
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
}

export interface MessageEntry extends EntryBase {
  type: "message";
  message: AgentMessage;
}

/** History before `firstKeptEntryId` is replaced by `summary`. */
export interface CompactionEntry extends EntryBase {
  type: "compaction";
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  details?: unknown;
  fromHook?: boolean;
}

export interface BranchSummaryEntry extends EntryBase {
  type: "branch_summary";
  fromId: string;
  summary: string;
  details?: unknown;
  fromHook?: boolean;
}

/** A record of a host or plugin; never part of the context. */
export interface CustomEntry extends EntryBase {
  type: "custom";
  customType: string;
  data?: unknown;
}

/** A record of a host or plugin that is part of the context. */
export interface CustomMessageEntry extends EntryBase {
  type: "custom_message";
  customType: string;
  content: string | UserBlock[];
  display?: boolean;
  details?: unknown;
}

/** History before it (or before `firstKeptEntryId`) is no longer part of the context. */
export interface ResetEntry extends EntryBase {
  type: "reset";
  firstKeptEntryId?: string;
}

export interface ModelChangeEntry extends EntryBase {
  type: "model_change";
  provider: string;
  modelId: string;
}

export interface ThinkingLevelChangeEntry extends EntryBase {
  type: "thinking_level_change";
  thinkingLevel: string;
}

export interface LabelEntry extends EntryBase {
  type: "label";
  targetId: string;
  label?: string;
}

export interface SessionInfoEntry extends EntryBase {
  type: "session_info";
  name?: string;
}

export type TranscriptEntry =
  | MessageEntry
  | CompactionEntry
  | BranchSummaryEntry
  | CustomEntry
  | CustomMessageEntry
  | ResetEntry
  | ModelChangeEntry
  | ThinkingLevelChangeEntry
  | LabelEntry
  | SessionInfoEntry;

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
/** An entry before the transcript gave it its place. */
export type NewTranscriptEntry = DistributiveOmit<TranscriptEntry, "id" | "parentId" | "timestamp">;

export const TranscriptHeaderSchema = z.looseObject({
  type: z.literal("session"),
  version: z.number().int().positive().default(1),
  id: z.string().trim().min(1),
  timestamp: z.string(),
  cwd: z.string().default(""),
  parentSession: z.string().optional(),
});

const base = { id: z.string().min(1), parentId: z.string().nullable(), timestamp: z.string() };
const textOrBlocks = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);

/**
 * Checks one entry of the current version. Loose: unknown keys are kept. Spec "compaction" §2.9.
 */
export const TranscriptEntrySchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("message"), message: AgentMessageSchema, ...base }),
  z.looseObject({
    type: z.literal("compaction"),
    summary: z.string(),
    firstKeptEntryId: z.string(),
    tokensBefore: z.number(),
    ...base,
  }),
  z.looseObject({
    type: z.literal("branch_summary"),
    fromId: z.string(),
    summary: z.string(),
    ...base,
  }),
  z.looseObject({
    type: z.literal("custom"),
    customType: z.string(),
    data: z.unknown().optional(),
    ...base,
  }),
  z.looseObject({
    type: z.literal("custom_message"),
    customType: z.string(),
    content: textOrBlocks,
    ...base,
  }),
  z.looseObject({ type: z.literal("reset"), firstKeptEntryId: z.string().optional(), ...base }),
  z.looseObject({
    type: z.literal("model_change"),
    provider: z.string(),
    modelId: z.string(),
    ...base,
  }),
  z.looseObject({ type: z.literal("thinking_level_change"), thinkingLevel: z.string(), ...base }),
  z.looseObject({
    type: z.literal("label"),
    targetId: z.string(),
    label: z.string().optional(),
    ...base,
  }),
  z.looseObject({ type: z.literal("session_info"), name: z.string().optional(), ...base }),
]);
