// How a stored message is written as a line of a session file, and read back exactly.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import {
  buildContext,
  parseTranscriptLine,
  type TranscriptEntry,
  withMessageId,
} from "@clew/plugin-sdk/transcript";
import { isNameless, keyOf } from "../messages/name.ts";

/** A message with everything about it that a store of its own kind has to know. */
export interface LineMessage {
  /** As the store has it. */
  readonly name: string;
  readonly message: AgentMessage;
  readonly isHeartbeat: boolean;
  /** True: only seen in a view, where a host may have shortened it. */
  readonly isSeen: boolean;
  /** True: said on a branch that the session has left. */
  readonly isLeft: boolean;
}

/** What other programs have no use for. */
interface Marks {
  readonly name?: string;
  readonly heartbeat?: boolean;
  readonly seen?: true;
  readonly left?: true;
}

/** The key of the marks in a line, and of what a file's first line tells besides. */
export const MARKS = "lossless";
/** Of a line that holds what no other program knows as a message. */
const UNKNOWN_MESSAGE = "lossless.message";

/** Where a line stands in its file. */
export interface LinePlace {
  readonly parentId: string | null;
  /** Of the line before, for messages without a time of their own. ISO 8601. */
  readonly timestamp: string;
  /** True: so is the request that it follows. */
  readonly followsHeartbeat: boolean;
}

/**
 * Pure. As other programs write it where that says everything; else with marks, or as a line that
 * they skip. Read again it is the same message to the byte.
 */
export function lineOf(stored: LineMessage, place: LinePlace): TranscriptEntry {
  const id = idOf(stored.name);
  const at = {
    ...{ id, parentId: place.parentId },
    timestamp: timeOf(stored.message) ?? place.timestamp,
  };
  const marks: Marks = {
    ...(stored.isHeartbeat !== startsHeartbeat(stored.message, place.followsHeartbeat) && {
      heartbeat: stored.isHeartbeat,
    }),
    ...(stored.isSeen && { seen: true as const }),
    ...(stored.isLeft && { left: true as const }),
  };
  for (const plain of plainLines(stored.message, id)) {
    const line = marked({ ...plain, ...at } as TranscriptEntry, marks);
    if (isSame(readLine(reparsed(line), id, place.followsHeartbeat), stored)) return line;
  }
  const exact = { ...marks, name: stored.name };
  const whole = marked({ type: "message", ...at, message: stored.message }, exact);
  if (isSame(readLine(reparsed(whole), id, place.followsHeartbeat), stored)) return whole;
  const data: unknown = stored.message;
  return marked({ type: "custom", ...at, customType: UNKNOWN_MESSAGE, data }, exact);
}

/** Undefined: it holds no message. `origin`: what its message is known by, unless a mark says. */
export function readLine(
  entry: TranscriptEntry | undefined,
  origin: string,
  followsHeartbeat: boolean,
): LineMessage | undefined {
  if (entry === undefined) return undefined;
  const marks = marksIn(entry);
  const message = marks.name === undefined ? told(entry, origin) : verbatim(entry);
  if (message === undefined) return undefined;
  return {
    ...{ name: marks.name ?? keyOf(origin), message },
    isHeartbeat: marks.heartbeat ?? startsHeartbeat(message, followsHeartbeat),
    isSeen: marks.seen ?? false,
    isLeft: marks.left ?? false,
  };
}

/** Pure. A request decides for what follows it. */
export const startsHeartbeat = (message: AgentMessage, followsHeartbeat: boolean): boolean =>
  message.role === "user" ? message.__openclaw?.kind === "heartbeat" : followsHeartbeat;

/** The ways in which other programs write it, the usual one first. */
function plainLines(message: AgentMessage, id: string): object[] {
  const bare = withoutId(message, id);
  const said = { type: "message", message: bare };
  switch (message.role) {
    case "custom": {
      const { role: _, timestamp: __, ...rest } = bare as AgentMessage & { role: "custom" };
      return [{ type: "custom_message", ...rest }, said];
    }
    case "branchSummary": {
      const { role: _, timestamp: __, ...rest } = bare as AgentMessage & { role: "branchSummary" };
      return [{ type: "branch_summary", ...rest }, said];
    }
    default:
      return [said, { type: "message", message }];
  }
}

/** The line's own id says it. */
function withoutId(message: AgentMessage, id: string): AgentMessage {
  const { __openclaw, ...rest } = message;
  if (__openclaw?.id !== id) return message;
  const { id: _, ...noted } = __openclaw;
  return (Object.keys(noted).length === 0 ? rest : { ...rest, __openclaw: noted }) as AgentMessage;
}

const told = (entry: TranscriptEntry, origin: string): AgentMessage | undefined => {
  const message = buildContext([entry]).items.at(-1)?.message;
  return message && withMessageId(message, origin);
};

function verbatim(entry: TranscriptEntry): AgentMessage | undefined {
  if (entry.type === "message") return entry.message;
  return entry.type === "custom" && entry.customType === UNKNOWN_MESSAGE
    ? (entry.data as AgentMessage)
    : undefined;
}

const marked = (entry: TranscriptEntry, marks: Marks): TranscriptEntry =>
  Object.keys(marks).length === 0 ? entry : Object.assign({ ...entry }, { [MARKS]: marks });

/** What is of another kind was written by another program. */
function marksIn(entry: TranscriptEntry): Marks {
  const found = (entry as { [MARKS]?: unknown })[MARKS];
  if (typeof found !== "object" || found === null) return {};
  const { name, heartbeat, seen, left } = found as Record<string, unknown>;
  return {
    ...(typeof name === "string" && { name }),
    ...(typeof heartbeat === "boolean" && { heartbeat }),
    ...(seen === true && { seen }),
    ...(left === true && { left }),
  };
}

/** As a program reads it that knows no object of ours. */
function reparsed(entry: TranscriptEntry): TranscriptEntry | undefined {
  const parsed = parseTranscriptLine(JSON.stringify(entry));
  return parsed.kind === "entry" ? parsed.entry : undefined;
}

const isSame = (read: LineMessage | undefined, stored: LineMessage): boolean =>
  read !== undefined && JSON.stringify(ordered(read)) === JSON.stringify(ordered(stored));

const ordered = ({ name, message, isHeartbeat, isSeen, isLeft }: LineMessage) => [
  ...[name, message, isHeartbeat, isSeen, isLeft],
];

/** A name of the store is an id, an id that was escaped, or stands for a message without one. */
export function idOf(name: string): string {
  return isNameless(name) || !name.startsWith('json"')
    ? name
    : String(JSON.parse(name.slice("json".length)));
}

/** Undefined: it has none that a line can say. */
function timeOf({ timestamp }: AgentMessage): string | undefined {
  if (typeof timestamp !== "number") return undefined;
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
