// The sentences a call shows to the model, with where each comes from.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { textOf, toModelMessage } from "@clew/plugin-sdk/transcript";
import { unwrapQuotes } from "./phrases.ts";

/** One message as text, with a name for its origin that completes "From …". */
export interface Shown {
  origin: string;
  text: string;
  /** The day it was said, "2026-01-31"; counts for every sentence. Absent: not known. */
  day?: string;
}

/** Characters of one sentence; longer runs of text are cut at a space. */
const SENTENCE_LIMIT = 400;

/**
 * The messages of a call as texts, in order; the text of a message is "" when it shows none. A
 * result that quotes records is as many texts as it quotes, in the order they were said.
 */
export function shownTexts(messages: readonly AgentMessage[]): Shown[][] {
  return messages.map((message) => {
    const text = shownText(message);
    const records = message.role === "toolResult" ? recordsIn(text) : [];
    return records.length > 0
      ? records
      : [{ origin: originOf(message), text, ...dayOf(message.timestamp) }];
  });
}

const RECORD =
  /<record (?:id="([^"]*)" )?n="(\d+)" from="([^"]*)" at="(\d{4}-\d\d-\d\d)?[^"]*">\n([\s\S]*?)\n<\/record>/g;

function recordsIn(text: string): Shown[] {
  return [...text.matchAll(RECORD)]
    .toSorted(([, , one], [, , other]) => Number(one) - Number(other))
    .map(([, id, number, from, day, quoted]) => ({
      origin: `${from} (${id === undefined ? `#${number}` : `@${id}`})`,
      text: from === "model" ? unwrapQuotes(quoted ?? "") : (quoted ?? ""),
      ...(day !== undefined && { day }),
    }));
}

function dayOf(timestamp: unknown): { day?: string } {
  if (typeof timestamp !== "number" || !Number.isFinite(timestamp)) return {};
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? {} : { day: time.toISOString().slice(0, 10) };
}

/** What a message says in words; "" when it is not sent. Calls and thinking are not statements. */
export function shownText(message: AgentMessage): string {
  if (toModelMessage(message) === undefined) return "";
  return message.role === "assistant" ? unwrapQuotes(textOf(message)) : textOf(message);
}

/** A mark and the room behind it, but not that of a German date: "20. Juni". */
const SENTENCE_END =
  /(?<=[.!?؟۔][)"'”’\]]?)(?<!\d\.(?=\s+(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)))\s+(?=\S)|(?<=[。！？])/u;

/**
 * Cuts a text into sentences, in order, without list signs; linear. Code and tables are cut by
 * line.
 */
export function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  for (const line of text.split(/\n+/)) {
    for (const sentence of line.split(SENTENCE_END)) {
      for (const piece of cutLong(sentence.replace(/^\s*(?:[-*•>#]+|\d+[.)])\s+/, "").trim()))
        if (piece !== "") sentences.push(piece);
    }
  }
  return sentences;
}

/** True for a sentence that asks and so answers nothing. */
export function isQuestion(sentence: string): boolean {
  return /[?？؟]["'”’)\]]*$/u.test(sentence) || ASKING.test(sentence);
}

const ASKING =
  /^\W*(?:please[ ,]+)?(?:tell me|remind me|look up|find out|do you (?:know|remember|recall)|(?:can|could) you (?:tell|remind|recall))\b/i;

function* cutLong(sentence: string): Generator<string> {
  let rest = sentence;
  while (rest.length > SENTENCE_LIMIT) {
    const space = rest.lastIndexOf(" ", SENTENCE_LIMIT);
    const end = space > SENTENCE_LIMIT / 2 ? space : SENTENCE_LIMIT;
    yield rest.slice(0, end).trim();
    rest = rest.slice(end);
  }
  yield rest.trim();
}

function originOf(message: AgentMessage): string {
  switch (message.role) {
    case "user":
      return "the person's message";
    case "assistant":
      return "an earlier reply";
    case "toolResult":
      return `the result of ${message.toolName}`;
    case "bashExecution":
      return "a shell command's output";
    case "custom":
      return "a note of the host";
    case "compactionSummary":
    case "branchSummary":
      return "the summary of earlier messages";
  }
}
