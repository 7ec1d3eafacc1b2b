// Tells whether a call asks the offline model for a summary, a tool or an answer.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { isRecord } from "@clew/plugin-sdk/host";
import { isQuestion, shownText, splitSentences } from "./sentences.ts";
import { type SummaryMaterial, sessionMaterial, textMaterial } from "./summary.ts";

export type OfflineRequest =
  | { kind: "summary"; material: SummaryMaterial }
  /** The person named a tool and its arguments. */
  | { kind: "tool"; name: string; argumentsObject: Record<string, unknown> }
  | { kind: "introduction" }
  | { kind: "question"; question: string /** The rest of the same message. */; besides: string }
  | { kind: "statement" }
  | { kind: "nothing" };

/** The request, and the position of the message that makes it (−1 when there is none). */
export function readRequest(call: ModelCall): { request: OfflineRequest; promptIndex: number } {
  const promptIndex = call.messages.findLastIndex(({ role }) => role === "user");
  const prompt = call.messages[promptIndex];
  if (prompt === undefined) return { request: { kind: "nothing" }, promptIndex };
  const text = shownText(prompt);
  const request =
    summaryRequest(call, text, promptIndex) ??
    toolRequest(call, text) ??
    introductionRequest(text) ??
    questionRequest(text);
  return { request: request ?? { kind: "statement" }, promptIndex };
}

/**
 * Three forms: a conversation between tags, a person asking for a summary of the session, a
 * summariser's system prompt over one text.
 */
function summaryRequest(
  call: ModelCall,
  text: string,
  promptIndex: number,
): OfflineRequest | undefined {
  const conversation = between(text, "conversation");
  if (conversation !== undefined)
    return {
      kind: "summary",
      material: textMaterial(conversation, between(text, "previous-summary")),
    };
  if (ASKS_FOR_SUMMARY.test(text))
    return { kind: "summary", material: sessionMaterial(call.messages.slice(0, promptIndex)) };
  const role = /^[^.\n]{0,160}/.exec(call.systemPrompt)?.[0] ?? "";
  return call.tools.length === 0 && /\b(?:summari[sz]|condens)/i.test(role)
    ? { kind: "summary", material: textMaterial(text) }
    : undefined;
}

const ASKS_FOR_SUMMARY =
  /^\W*(?:(?:please|can you|could you|now)[ ,]+)*(?:summari[sz]e|sum up|give me a summary|tl;?dr)\b/i;

/** `call <tool> {json}`, for trying tools without a language model. */
function toolRequest(call: ModelCall, text: string): OfflineRequest | undefined {
  const [, name, json] =
    /^\s*(?:please )?(?:call|run|use) (?:the )?(?:tool )?[`"]?([\w.-]+)[`"]?(?: tool)?(?: with)? (\{[\s\S]*\})\s*$/i.exec(
      text,
    ) ?? [];
  if (name === undefined || json === undefined || !call.tools.some((tool) => tool.name === name))
    return undefined;
  const argumentsObject = parseObject(json);
  return argumentsObject === undefined ? undefined : { kind: "tool", name, argumentsObject };
}

function introductionRequest(text: string): OfflineRequest | undefined {
  const asks =
    /^\W*(?:hello|hi|hey)?\W*(?:who|what) are you\b|^\W*(?:which|what) (?:language )?model (?:are you|is this)\b/i;
  return asks.test(text) && text.length < 80 ? { kind: "introduction" } : undefined;
}

/**
 * The last question of the message, or imperative that asks; a question word alone begins one when
 * nothing follows the clause.
 */
function questionRequest(text: string): OfflineRequest | undefined {
  const sentences = splitSentences(text);
  const asking = (sentence: string) => isQuestion(sentence) || QUESTION_WORD.test(sentence);
  const question = sentences.findLast(asking);
  if (question === undefined) return undefined;
  return {
    kind: "question",
    question,
    besides: sentences.filter((sentence) => !asking(sentence)).join("\n"),
  };
}

const QUESTION_WORD = /^\W*(?:what|who|whom|whose|when|where|which|why|how)\b[^.,:]*$/i;

function between(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`);
  const end = text.lastIndexOf(`</${tag}>`);
  return start >= 0 && end > start ? text.slice(start + tag.length + 2, end) : undefined;
}

function parseObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** True when `message` calls one of `names`. */
export function callsTool(message: AgentMessage, names: ReadonlySet<string>): boolean {
  return (
    message.role === "assistant" &&
    message.content.some((block) => block.type === "toolCall" && names.has(block.name))
  );
}
