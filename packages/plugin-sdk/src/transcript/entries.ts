// What one line of a session file may be, and the schema that checks it.
import { z } from "zod";
import { type AgentMessage, AgentMessageSchema, type UserBlock } from "../contract/message.ts";

/** Format version this package writes; files of versions 1 and 2 are migrated when read. */
export const TRANSCRIPT_VERSION = 3;

/** First line of a session file; not part of the tree. */
export interface TranscriptHeader {
  /** Only the first line of a file may have it. */
  type: "session";
  /** Format version of the file; `TRANSCRIPT_VERSION` once it was read. */
  version: number;
  /** Id of the session whose transcript this is. */
  id: string;
  /** ISO 8601. */
  timestamp: string;
  /** Absolute path of the folder the session works in; "" when not known. */
  cwd: string;
  /** The session this one was split off from. Absent: none. */
  parentSession?: string;
}

/**
 * Under this key an entry that reads its message only when it is asked says which entry first said
 * it; a store with such entries sets it, and it is in no file. An entry of type "message" has it
 * only when engines are told of its message: its role is not "custom".
 */
export const ORIGIN: unique symbol = Symbol.for("clew.origin");

/** Under this key such an entry of type "message" says who speaks in it. */
export const ROLE: unique symbol = Symbol.for("clew.role");

interface EntryBase {
  /** Unique in the file; 8 hex digits when written by us. */
  id: string;
  /** The entry this one follows; null at the root. */
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  /**
   * `id` names the entry that first said this, for entries that were appended again under an id of
   * their own. Messages carry it themselves, in a field of the same name. Absent: this entry did.
   */
  __openclaw?: { id?: string };
  /** Of an entry that reads what it holds when it is asked; see `ORIGIN`. Absent: any other. */
  [ORIGIN]?: string;
  /** Of an entry that reads what it holds when it is asked; see `ROLE`. Absent: any other. */
  [ROLE]?: AgentMessage["role"];
}

/** Something was said, or a tool answered. */
export interface MessageEntry extends EntryBase {
  /** Told to engines, as custom messages and branch summaries are. */
  type: "message";
  /** As it was said; a rewrite appends another entry and leaves this one. */
  message: AgentMessage;
}

/** History before `firstKeptEntryId` is replaced by `summary`. */
export interface CompactionEntry extends EntryBase {
  /** The latest one on a branch decides what the context is. */
  type: "compaction";
  /** Shown to the model in place of what it replaces. */
  summary: string;
  /** Oldest entry still shown as it is; an id that is not on the branch keeps none. */
  firstKeptEntryId: string;
  /** Tokens of the context before. */
  tokensBefore: number;
  /** What else its author wants to remember. Absent: nothing. */
  details?: unknown;
  /** True: written by a plugin, not by the host. Absent: false. */
  fromHook?: boolean;
}

/** The session went on from an earlier entry; this tells what was left. */
export interface BranchSummaryEntry extends EntryBase {
  /** Part of the context, unlike a label. */
  type: "branch_summary";
  /** An entry of the branch that was left. */
  fromId: string;
  /** What was said there, for the model. */
  summary: string;
  /** What else its author wants to remember. Absent: nothing. */
  details?: unknown;
  /** True: written by a plugin, not by the host. Absent: false. */
  fromHook?: boolean;
}

/** A record of a host or plugin; never part of the context. */
export interface CustomEntry extends EntryBase {
  /** Never part of the context, whatever it holds. */
  type: "custom";
  /** Whose record it is; its author finds it again by this. */
  customType: string;
  /** Anything that is JSON. Absent: that it happened is all there is to say. */
  data?: unknown;
}

/** A record of a host or plugin that is part of the context. */
export interface CustomMessageEntry extends EntryBase {
  /** Part of the context, as a user's text. */
  type: "custom_message";
  /** Whose message it is; its author finds it again by this. */
  customType: string;
  /** A string is one text block. */
  content: string | UserBlock[];
  /** False: people are not shown it. Absent: they are. */
  display?: boolean;
  /** Data of its author, never sent to a model. Absent: none. */
  details?: unknown;
}

/** History before it (or before `firstKeptEntryId`) is no longer part of the context. */
export interface ResetEntry extends EntryBase {
  /** Ends the context as a compaction does, without a summary. */
  type: "reset";
  /** Oldest entry still in the context. Absent: none before this one is. */
  firstKeptEntryId?: string;
}

/** From here on another model answers. */
export interface ModelChangeEntry extends EntryBase {
  /** For people; a call names its model itself. */
  type: "model_change";
  /** Who serves it. */
  provider: string;
  /** Its id, without the provider. */
  modelId: string;
}

/** From here on the model thinks more, or less. */
export interface ThinkingLevelChangeEntry extends EntryBase {
  /** For people; a call says itself how much. */
  type: "thinking_level_change";
  /** In the words of the host that wrote it. */
  thinkingLevel: string;
}

/** A person's mark on an entry. */
export interface LabelEntry extends EntryBase {
  /** For people; models are not shown it. */
  type: "label";
  /** The entry that is marked. */
  targetId: string;
  /** What the mark says. Absent: the mark is taken away. */
  label?: string;
}

/** What people call the session. */
export interface SessionInfoEntry extends EntryBase {
  /** The newest one holds. */
  type: "session_info";
  /** Absent: it has no name any more. */
  name?: string;
}

/** Who speaks in an entry, read only where that is not known; undefined: it has no message. */
export const roleIn = (entry: TranscriptEntry | undefined): AgentMessage["role"] | undefined =>
  entry?.type === "message" ? (entry[ROLE] ?? entry.message.role) : undefined;

/** Every kind of line after the header; one of a kind unknown here is reported as bad. */
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
