// What a row of the table of summaries holds, and what binds it.
import { hash } from "node:crypto";
import type { StoredMessage } from "./rows.ts";
import type { Sql } from "./sql.ts";

/** Words of a message, as they stand there, blanks aside. */
export interface Quote {
  /** The message's number. */
  readonly seq: number;
  readonly text: string;
}

/** What was said and done on one day, or on days that follow one another. */
export interface DayFacts {
  /** "2026-01-31", UTC; null = the messages have no time. */
  readonly from: string | null;
  /** The last of the days; the same as `from` where it is one. */
  readonly to: string | null;
  readonly messages: number;
  /** How many requests there were. */
  readonly requests: number;
  /** Those of them that tell most. */
  readonly asked: readonly Quote[];
  /** Paths that calls and requests named, with how often; those with most to do first. */
  readonly files: readonly (readonly [path: string, times: number])[];
  /** How answers begin that ended a turn. */
  readonly answered: readonly Quote[];
}

/** What code knows of a stretch of messages. Every word is quoted, every number counted. */
export interface Facts {
  readonly messages: number;
  /** Estimated tokens of the messages. */
  readonly tokens: number;
  /** When the first was made, ms; null = none has a time. */
  readonly since: number | null;
  readonly until: number | null;
  /** Oldest first. */
  readonly days: readonly DayFacts[];
}

/** Who reads facts off what summaries stand for. */
export interface FactsReader {
  /** Of messages of one conversation, in the order in which they came. */
  ofMessages(messages: readonly StoredMessage[]): Facts;
  /** Of stretches that follow one another; bounded, however many they are. */
  ofParts(parts: readonly Facts[]): Facts;
}

/** A text that stands for messages, or for summaries of messages, in the order they came. */
export interface StoredSummary {
  readonly id: number;
  readonly conversation: number;
  /** 0 = a leaf, which stands for messages. */
  readonly depth: number;
  /** The summary that this one is a part of. Null: it is on the frontier. */
  readonly parent: number | null;
  /** Numbers of the first and the last message that it stands for. */
  readonly first: number;
  readonly last: number;
  /** What code knows of them. */
  readonly facts: Facts;
  /** What a model says of them. Null: none was asked, or what it said was no use. */
  readonly words: string | null;
  /** The model whose words they are. Null: there are none. */
  readonly model: string | null;
  /** How often a model was asked. */
  readonly asked: number;
  /** When it was made, ms. */
  readonly created: number;
  /** Another one as soon as it says or stands for something else. */
  readonly hash: string;
}

/** A row as the table holds it. */
export type SummaryRow = Record<string, unknown>;

/** Of SHA-256: as many bits as nobody finds again by chance. */
const HASH_BYTES = 20;

export function summaryOf(row: SummaryRow): StoredSummary {
  const { messages, tokens, since, until } = row;
  return {
    ...{ id: Number(row.id), conversation: Number(row.conversation), depth: Number(row.depth) },
    parent: numberOrNull(row.parent),
    ...{ first: Number(row.first), last: Number(row.last) },
    facts: {
      ...{ messages: Number(messages), tokens: Number(tokens) },
      ...{ since: numberOrNull(since), until: numberOrNull(until) },
      days: daysIn(row.days),
    },
    words: row.words === null ? null : String(row.words),
    model: row.model === null ? null : String(row.model),
    ...{ asked: Number(row.asked), created: Number(row.created) },
    hash: Buffer.from(hashIn(row)).toString("hex"),
  };
}

/** None where they are damaged: the audit names them. */
function daysIn(kept: unknown): Facts["days"] {
  try {
    return JSON.parse(String(kept)) as Facts["days"];
  } catch {
    return [];
  }
}

/** What a column says that may say nothing. */
export const numberOrNull = (value: unknown) => (value === null ? null : Number(value));

/** Columns that say what a summary says; how often a model was asked is none of them. */
const BOUND = [
  ...["id", "conversation", "depth", "first", "last", "messages", "tokens", "since", "until"],
  ...["days", "words", "model", "created"],
];

/** Pure: SHA-256 of all that the row says, and of the hashes of what it stands for, in order. */
export const summaryHash = (row: SummaryRow, parts: readonly Uint8Array[]): Uint8Array =>
  hash(
    "sha256",
    Buffer.concat([Buffer.from(JSON.stringify(BOUND.map((column) => row[column]))), ...parts]),
    "buffer",
  ).subarray(0, HASH_BYTES);

/** Pure: what binds a frontier. */
export const frontierHash = (hashes: readonly Uint8Array[]): Uint8Array =>
  hash("sha256", Buffer.concat(hashes), "buffer").subarray(0, HASH_BYTES);

/** The rows that a summary stands for, oldest first; none for a leaf. */
export const partRows = (sql: Sql, id: number): SummaryRow[] =>
  sql("SELECT * FROM summary WHERE parent = ? ORDER BY first").all(id);

/** The rows of a conversation's frontier, oldest first. */
export const frontierRows = (sql: Sql, conversation: number): SummaryRow[] =>
  sql("SELECT * FROM summary WHERE conversation = ? AND parent IS NULL ORDER BY first").all(
    conversation,
  );

/** What a column of hashes says; nothing where it says nothing. */
export const hashIn = (row: SummaryRow | undefined, column = "hash"): Uint8Array => {
  const value = row?.[column];
  return value instanceof Uint8Array ? value : new Uint8Array(HASH_BYTES);
};
