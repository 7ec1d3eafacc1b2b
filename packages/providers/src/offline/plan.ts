// Decides what the offline model replies to a call.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ToolDefinition } from "@clew/plugin-sdk/host";
import { bestMatch } from "./match.ts";
import {
  ACKNOWLEDGEMENT,
  closest,
  INTRODUCTION,
  NO_MESSAGE,
  NOT_SHOWN,
  quote,
  toolAnswered,
} from "./phrases.ts";
import { callsTool, readRequest } from "./request.ts";
import { shownText, shownTexts } from "./sentences.ts";
import { summarise } from "./summary.ts";
import { informativeTerms, type Term } from "./words.ts";

export type OfflinePlan =
  | { kind: "text"; text: string }
  | { kind: "tool"; name: string; argumentsObject: Record<string, unknown> };

/**
 * From this share of the question's information on, a sentence counts as an answer; from the lower
 * one on, as the closest there is.
 */
const ANSWERS = 0.6;
const RESEMBLES = 0.4;

export function planOfflineReply(call: ModelCall): OfflinePlan {
  const { request, promptIndex } = readRequest(call);
  const sincePrompt = call.messages.slice(promptIndex + 1);
  switch (request.kind) {
    case "nothing":
      return text(NO_MESSAGE);
    case "introduction":
      return text(INTRODUCTION);
    case "statement":
      return text(ACKNOWLEDGEMENT);
    case "summary":
      return text(summarise(request.material, call.maxOutputTokens));
    case "tool":
      return sincePrompt.some((message) => callsTool(message, new Set([request.name])))
        ? text(toolAnswered(request.name, lastResult(sincePrompt)))
        : request;
    case "question":
      return answer(call, request, promptIndex);
  }
}

function answer(
  call: ModelCall,
  { question, besides }: { question: string; besides: string },
  promptIndex: number,
): OfflinePlan {
  const terms = informativeTerms(question);
  const shown = shownTexts(call.messages).map((source, index) =>
    index === promptIndex ? { ...source, text: besides } : source,
  );
  const match = terms.length === 0 ? undefined : bestMatch(terms, shown);
  if (match !== undefined && match.coverage >= ANSWERS)
    return text(quote(match.origin, match.sentence));

  const recall = recallTools(call.tools);
  const names = new Set(recall.map(({ tool }) => tool.name));
  const [first] = recall;
  const asked = call.messages.slice(promptIndex + 1).some((message) => callsTool(message, names));
  if (first !== undefined && !asked && terms.length > 0)
    return {
      kind: "tool",
      name: first.tool.name,
      argumentsObject: { [first.parameter]: recallQuery(first.tool.name, terms) },
    };
  return text(
    match !== undefined && match.coverage >= RESEMBLES
      ? closest(match.origin, match.sentence)
      : NOT_SHOWN,
  );
}

/** Tools that look something up by one string, those named for recalling first. */
function recallTools(
  tools: readonly ToolDefinition[],
): { tool: ToolDefinition; parameter: string }[] {
  const rank = (name: string) =>
    [/recall/i, /search/i, /grep/i].findIndex((pattern) => pattern.test(name));
  return tools
    .flatMap((tool) => {
      const { required, properties } = tool.parameters as {
        required?: unknown;
        properties?: Record<string, { type?: unknown } | undefined>;
      };
      const parameter: unknown =
        Array.isArray(required) && required.length === 1 ? required[0] : undefined;
      return rank(tool.name) >= 0 &&
        typeof parameter === "string" &&
        properties?.[parameter]?.type === "string"
        ? [{ tool, parameter }]
        : [];
    })
    .sort((first, second) => rank(first.tool.name) - rank(second.tool.name));
}

/**
 * A grep wants one pattern, and the longest word is the rarest as a rule; a search takes all words.
 */
function recallQuery(toolName: string, terms: readonly Term[]): string {
  const words = terms.map(({ original }) => original);
  if (!/grep/i.test(toolName)) return words.join(" ");
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest));
}

function lastResult(messages: readonly AgentMessage[]): string {
  const result = messages.findLast(({ role }) => role === "toolResult");
  return result === undefined ? "" : shownText(result);
}

const text = (words: string): OfflinePlan => ({ kind: "text", text: words });
