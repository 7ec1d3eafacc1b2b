// Reads what a list tells of a session besides its name, from the beginnings of its files.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { textOf } from "@clew/plugin-sdk/transcript";
import { projectMessageForDisplay } from "@clew/transcript-policy";
import { doorJournalFile } from "../sessions/paths.ts";
import { firstWords } from "./first-words.ts";
import { findInHead } from "./read-head.ts";

/** What the door wrote of a session's client. */
export interface ToldByDoor {
  /** The client's own name of the conversation. Absent: it has none. */
  key?: string;
  /** What it shares with others; of a request beside a conversation, that one's key. */
  family?: string;
  /** Key of the session that started it. Absent: none is known. */
  parent?: string;
  /** True: no request of it has tools, and none goes on from another one. */
  isBeside: boolean;
}

/** Lines of a journal, as far as a list looks at them. */
interface JournalRequest {
  type: "request";
  key?: string;
  family?: string;
  parent?: string;
  kept?: number;
  added?: readonly string[];
  tools?: readonly string[];
}

/** Undefined: the door wrote nothing that can be read. */
export const readToldByDoor = (sessionFile: string): ToldByDoor | undefined =>
  findInHead(doorJournalFile(sessionFile), toldByDoorIn);

/** Pure. Of the first lines of what the door wrote. */
export function toldByDoorIn(lines: readonly object[], isWhole: boolean): ToldByDoor | undefined {
  const requests = lines.flatMap((line) => {
    const { event } = line as { event?: { type?: string } };
    return event?.type === "request" ? [event as JournalRequest] : [];
  });
  const [first] = requests;
  if (first === undefined) return undefined;
  const { key, family, parent } = first;
  const isConversation = requests.some(
    ({ tools = [], kept = 0, added = [] }) => tools.length > 0 || (kept > 0 && added.length > 0),
  );
  // What is long is no request beside a conversation.
  const isBeside = !isConversation && isWhole;
  return {
    ...{ ...(key && { key }), ...(family && { family }), ...(parent && { parent }) },
    isBeside,
  };
}

/** What was asked in a session, and what it was answered, first of all. */
export interface FirstExchange {
  /** In one line. Absent: nothing is said in words. */
  words?: string;
  /** All that stands in user messages before the reply. */
  asked: string;
  /** Absent: there is none yet. */
  reply?: string;
}

export const readFirstExchange = (sessionFile: string): FirstExchange | undefined =>
  findInHead(sessionFile, firstExchangeIn);

/** Pure. Of the first lines of a session. */
export function firstExchangeIn(
  lines: readonly object[],
  isWhole: boolean,
): FirstExchange | undefined {
  const messages = lines.flatMap((line) => {
    const { type, message } = line as { type?: string; message?: AgentMessage };
    return type === "message" && typeof message?.role === "string" ? [message] : [];
  });
  const replied = messages.findIndex(({ role }) => role === "assistant");
  const before = replied < 0 ? messages : messages.slice(0, replied);
  const texts = before.filter(({ role }) => role === "user").flatMap(partsOf);
  const words = firstWords(texts, isWhole || replied >= 0);
  if (words === undefined && replied < 0 && !isWhole) return undefined;
  return {
    asked: texts.join("\n"),
    ...(words !== undefined && { words }),
    ...(replied >= 0 && { reply: textOf(messages[replied]!) }),
  };
}

function partsOf(message: AgentMessage): string[] {
  const shown = projectMessageForDisplay(message);
  if (shown === undefined || !("content" in shown)) return [];
  const { content } = shown as { content: string | readonly { type: string; text?: string }[] };
  return typeof content === "string"
    ? [content]
    : content.flatMap(({ type, text }) => (type === "text" && text ? [text] : []));
}
