// The sentences a call shows to the model, with where each comes from.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { toModelMessage } from "@clew/plugin-sdk/transcript";
import { unwrapQuotes } from "./phrases.ts";

/** One message as text, with a name for its origin that completes "From …". */
export interface Shown {
  origin: string;
  text: string;
}

/** Characters of one sentence; longer runs of text are cut at a space. */
const SENTENCE_LIMIT = 400;

/** The messages of a call as texts, in order; the text of a message is "" when it shows none. */
export function shownTexts(messages: readonly AgentMessage[]): Shown[] {
  return messages.map((message) => ({ origin: originOf(message), text: textOf(message) }));
}

/** What a message says in words. Calls and thinking are not statements. */
export function textOf(message: AgentMessage): string {
  const view = toModelMessage(message);
  if (view === undefined) return "";
  const text =
    typeof view.content === "string" ? view.content : view.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return view.role === "assistant" ? unwrapQuotes(text) : text;
}

/** Cuts a text into sentences, in order, without loss of words; linear. Code and tables are cut by line. */
export function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  for (const line of text.split(/\n+/)) {
    for (const sentence of line.split(/(?<=[.!?][)"'”’\]]?)\s+(?=\S)|(?<=[。！？])/u)) {
      for (const piece of cutLong(sentence.trim())) if (piece !== "") sentences.push(piece);
    }
  }
  return sentences;
}

export const isQuestion = (sentence: string) => /[?？]["'”’)\]]*$/u.test(sentence);

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
