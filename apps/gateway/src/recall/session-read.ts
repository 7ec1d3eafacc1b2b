// Reads messages of a session whole, page by page.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { type MessageEntry, parseTranscriptLine } from "@clew/plugin-sdk/transcript";
import { toJson } from "../own-json.ts";
import { readFileLines } from "../sessions/file-lines.ts";
import { ToolRefusal } from "../tools/tool.ts";
import { quoteRecord, recordTextOf } from "./record-text.ts";
import { findMessage, idOf, type SessionMessages } from "./session-messages.ts";

export interface ReadRequest {
  messages: SessionMessages;
  /** An id, or "#12": the number of a message. */
  id: string;
  /** The last one to read. Absent: only the one. */
  to?: string | undefined;
  /** Counted from 1. */
  page: number;
  /** Characters of a page. */
  pageChars: number;
  /** Where the session is stored. Absent: nowhere but in `messages`. */
  file?: string | undefined;
  signal: AbortSignal;
}

/** Text for a model. Throws ToolRefusal for ids that are none. */
export async function readSession(request: ReadRequest): Promise<string> {
  const { messages, id, to = id, page, pageChars, signal } = request;
  const first = await placeOf(request, id);
  const last = to === id ? first : await placeOf(request, to);
  if (last < first) throw new ToolRefusal(`"${to}" stands before "${id}"; give them in order.`);
  // Only as much as the page needs, and whether there is more.
  const end = page * pageChars;
  const start = end - pageChars;
  const shown: string[] = [];
  let reached = 0;
  let index = first;
  for (; index <= last && reached < end; index++) {
    signal.throwIfAborted();
    const message = await wholeOf(messages[index]!, request.file);
    const text = recordTextOf(message) || "(nothing to read)";
    const [from, upTo] = [Math.max(0, start - reached), Math.min(text.length, end - reached)];
    if (from < upTo) shown.push(quoteRecord(messages, index, wholeCharacters(text, from, upTo)));
    reached += text.length;
  }
  if (shown.length === 0) throw new ToolRefusal(`There is no page ${page}.`);
  const isMore = index <= last || reached > end;
  return isMore ? `${shown.join("\n")}\nThere is more: page ${page + 1}.` : shown.join("\n");
}

async function placeOf({ messages, signal }: ReadRequest, name: string): Promise<number> {
  const place = await findMessage(messages, name, signal);
  if (place >= 0) return place;
  throw new ToolRefusal(
    `There is no message "${name}" in this session; use an id as it is shown, or #1 to #${messages.length}.`,
  );
}

/** A cut keeps half of a surrogate pair for neither page. */
const wholeCharacters = (text: string, from: number, to: number) =>
  text
    .slice(from, to)
    .replace(/[\uD800-\uDBFF]$/, "")
    .replace(/^[\uDC00-\uDFFF]/, "");

/**
 * A message that was stored again may have been shortened then; the file still holds what was first
 * stored under its id.
 */
async function wholeOf(entry: MessageEntry, file: string | undefined): Promise<AgentMessage> {
  const id = idOf(entry);
  if (file === undefined || entry.id === id) return entry.message;
  let original: AgentMessage | undefined;
  const mark = Buffer.from(toJson(id));
  await readFileLines(file, {}, (line) => {
    if (original !== undefined || line.indexOf(mark) < 0) return;
    const parsed = parseTranscriptLine(line.toString("utf8"));
    if (parsed.kind === "entry" && parsed.entry.type === "message" && parsed.entry.id === id)
      original = parsed.entry.message;
  });
  return original ?? entry.message;
}
