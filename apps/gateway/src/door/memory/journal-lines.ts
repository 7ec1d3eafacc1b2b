// How what the door knows of a session is written beside it, a line for each event.
import { fromJson, toJson } from "../../own-json.ts";
import type { DoorEvent, ReplyEvent, RequestEvent } from "../match/known-requests.ts";
import type { ViewMarks } from "../view/plan-view.ts";

/** Entries of the transcript that hold one message of the client. */
export interface StoredMessage {
  /** By what it is found again. */
  token: string;
  /** What it was when it was stored; null = nobody has sent it back yet. */
  hash: string | null;
  entries: readonly string[];
}

/** What is known of a session beside its messages. */
export interface SessionNotes {
  /** How far its view has moved. */
  marks: ViewMarks;
  /** Tokens its provider counts for one of ours. */
  scale: number;
  /** Less than its model is known to hold, as refusals showed, tokens. Absent: nothing did. */
  window?: number;
}

export const NO_NOTES: SessionNotes = { marks: {}, scale: 1 };

export interface JournalLine {
  event: DoorEvent;
  stored: readonly StoredMessage[];
  notes: SessionNotes;
  /** The newest entry of the transcript when it was written; null = there was none. */
  leafId: string | null;
}

/** First line of a file. */
export interface JournalHeader {
  v: 1;
  /** Canonical key of the session. */
  session: string;
}

export const encodeHeader = (session: string): string =>
  `${toJson({ v: 1, session } satisfies JournalHeader)}\n`;

/** `before`: the request before it in the same file. What is as in that one is left out. */
export function encodeLine(line: JournalLine, before: RequestEvent | undefined): string {
  const { session: _own, ...event } = line.event;
  const short =
    event.type === "request" && before !== undefined
      ? {
          ...event,
          tools: isSame(event.tools, before.tools) ? undefined : event.tools,
          head: event.head === before.head ? undefined : event.head,
        }
      : event;
  return `${toJson({ ...line, event: short })}\n`;
}

export interface ReadJournal {
  session: string;
  lines: JournalLine[];
}

/** Undefined: it is no journal. A line that cannot be read is passed over. */
export function readJournal(text: string): ReadJournal | undefined {
  const [first = "", ...rest] = text.split("\n");
  const header = parsed(first) as Partial<JournalHeader> | undefined;
  if (header?.v !== 1 || typeof header.session !== "string") return undefined;
  const { session } = header;
  let before: RequestEvent | undefined;
  const lines = rest.flatMap((each): JournalLine[] => {
    const line = parsed(each) as JournalLine | undefined;
    if (line?.event === undefined) return [];
    if (line.event.type === "reply")
      return [{ ...line, event: { ...line.event, session } satisfies ReplyEvent }];
    const { tools = before?.tools ?? [], head = before?.head ?? "" } = line.event;
    const event: RequestEvent = { ...line.event, session, tools, head };
    before = event;
    return [{ ...line, event }];
  });
  return { session, lines };
}

/** Pure. The journal without the summaries of which this is true; a line nobody can read goes. */
export function withoutSummaries(text: string, isGone: (summary: string) => boolean): string {
  const changed = (each: string): string[] => {
    if (each === "") return [each];
    const line = parsed(each) as Partial<JournalLine & JournalHeader> | undefined;
    if (line === undefined) return [];
    if (line.event?.type !== "reply" || line.event.summaries === undefined) return [each];
    const { summaries, ...event } = line.event;
    const kept = summaries.filter((summary) => !isGone(summary));
    if (kept.length === summaries.length) return [each];
    return [toJson({ ...line, event: kept.length > 0 ? { ...event, summaries: kept } : event })];
  };
  return text.split("\n").flatMap(changed).join("\n");
}

const isSame = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((each, index) => each === b[index]);

function parsed(text: string): unknown {
  try {
    return fromJson(text);
  } catch {
    return undefined;
  }
}
