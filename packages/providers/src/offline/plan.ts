// Decides what the offline model replies to a call.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ToolDefinition } from "@clew/plugin-sdk/host";
import { bestMatch, type Match } from "./match.ts";
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
import { type Shown, shownText, shownTexts } from "./sentences.ts";
import { summarise } from "./summary.ts";
import { foldedWords, informativeTerms, type Term } from "./words.ts";

export type OfflinePlan =
  | { kind: "text"; text: string }
  | { kind: "tool"; name: string; argumentsObject: Record<string, unknown> };

/**
 * From this share of the question's information on, a sentence counts as an answer; from the lower
 * one on, as the closest there is.
 */
const ANSWERS = 0.6;
const RESEMBLES = 0.4;
/** From this share on, what a sentence names is worth asking for. */
const STEP = 0.3;

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
  const asked = recallsSince(call, promptIndex);
  const canAsk = new Set(recallTools(call.tools).map(({ tool }) => tool.name));
  const shown = shownTexts(call.messages).flatMap((sources, index) => {
    if (index === promptIndex) return sources.map((source) => ({ ...source, text: besides }));
    if (index > promptIndex) return sources.map((source) => unlessInVain(source, asked));
    // What was found for an earlier question may not be all, nor the newest: it is asked for again.
    const message = call.messages[index]!;
    const isFound = message.role === "toolResult" && canAsk.has(message.toolName);
    return isFound && index < promptIndex ? [] : sources;
  });
  const match = terms.length === 0 ? undefined : bestMatch(terms, shown);
  const lookUp = terms.length === 0 ? undefined : planLookUp(call.tools, asked, terms, match);
  const isAnswer = match !== undefined && match.coverage >= ANSWERS;
  if (isAnswer && !leavesOpen(question, terms, match))
    return text(quote(match.origin, match.sentence));
  if (lookUp !== undefined) return lookUp;
  const last =
    asked.length > 1 ? bestMatch(informativeTerms(asked.at(-1)!.query), shown) : undefined;
  if (last !== undefined && last.coverage >= ANSWERS && last.sentence !== match?.sentence)
    return text(quote(last.origin, last.sentence));
  if (isAnswer) return text(quote(match.origin, match.sentence));
  const alike = match !== undefined && match.coverage >= RESEMBLES ? match : undefined;
  const telling = tellsOf(terms, shown);
  const near = ASKS_FOR_NAME.test(question) ? (telling ?? alike) : (alike ?? telling);
  return text(near === undefined ? NOT_SHOWN : closest(near.origin, near.sentence));
}

/** A tool that found nothing says so in one line that ends with what it was asked for. */
function unlessInVain(source: Shown, asked: readonly LookUp[]): Shown {
  const line = source.text.trim().replace(/\.$/, "");
  const isInVain = !line.includes("\n") && asked.some(({ query }) => line.endsWith(`"${query}"`));
  return isInVain ? { ...source, text: "" } : source;
}

const ASKS_FOR_NAME = /\b(?:which|what|who|whom|when|where|how (?:many|much))\b/i;

/**
 * In other words than the question's: a sentence about everybody and everything that the question
 * names, which names something more.
 */
function tellsOf(terms: readonly Term[], shown: readonly Shown[]): Match | undefined {
  const names = terms.filter(isName);
  if (names.length === 0) return undefined;
  return bestMatch(
    terms,
    shown,
    ({ sentence, found }) =>
      names.every((name) => found.includes(name)) &&
      // Any sentence begins with a capital.
      namedIn(sentence, terms).some((one) => isName(one) && !sentence.startsWith(one.original)),
  );
}

/**
 * A question for which thing of a kind is not answered by a sentence that lacks the kind, and one
 * about somebody, or a day, not by a sentence about another.
 */
function leavesOpen(question: string, terms: readonly Term[], { found }: Match): boolean {
  const [, kind] =
    /^\W*(?:which|what) ([a-z]{3,})\b(?! (?:is|are|was|were)\b)/i.exec(question) ?? [];
  const [focus] = kind === undefined ? [] : informativeTerms(kind);
  const open = terms.filter((term) => !found.includes(term));
  return open.some(
    (term) => term.text === focus?.text || (isName(term) && !question.startsWith(term.original)),
  );
}

const isName = ({ original }: Term) => /^\p{Lu}|\d/u.test(original);

/** A call of a tool that looks something up. */
interface LookUp {
  name: string;
  query: string;
}

/** Those made since the question, in order. */
function recallsSince(call: ModelCall, promptIndex: number): LookUp[] {
  const tools = new Map(
    recallTools(call.tools).map(({ tool, parameter }) => [tool.name, parameter]),
  );
  return call.messages.slice(promptIndex + 1).flatMap((message) =>
    message.role !== "assistant"
      ? []
      : message.content.flatMap((block) => {
          const parameter = block.type === "toolCall" ? tools.get(block.name) : undefined;
          if (block.type !== "toolCall" || parameter === undefined) return [];
          return [{ name: block.name, query: String(block.arguments[parameter] ?? "") }];
        }),
  );
}

/**
 * Every tool is asked once for the words of the question. Where a sentence was found that holds
 * some of them, the tool that may know more is asked for the others with what is new in it.
 */
function planLookUp(
  tools: readonly ToolDefinition[],
  asked: readonly LookUp[],
  terms: readonly Term[],
  match: Match | undefined,
): OfflinePlan | undefined {
  const recall = recallTools(tools);
  const [first] = recall;
  if (first === undefined) return undefined;
  const ask = (
    { tool, parameter }: (typeof recall)[number],
    words: readonly Term[],
  ): OfflinePlan => ({
    kind: "tool",
    name: tool.name,
    argumentsObject: ranks(tool)
      ? { [parameter]: allOf(words), sort: "relevance" }
      : { [parameter]: recallQuery(tool.name, words) },
  });
  if (asked.length === 0) return ask(first, terms);
  const further = match !== undefined && asked.length === 1 ? stepFrom(match, terms) : [];
  if (further.length > 0 && match!.coverage >= STEP) return ask(first, further);
  const next = recall.find(({ tool }) => !asked.some(({ name }) => name === tool.name));
  return next === undefined ? undefined : ask(next, terms);
}

/** What the sentence names, and what it leaves open; nothing when it leaves nothing open. */
function stepFrom({ sentence }: Match, terms: readonly Term[]): Term[] {
  const held = foldedWords(sentence);
  const open = terms.filter(({ text: word }) => !held.has(word));
  // A name in the middle of a sentence is worth asking for; other words seldom are.
  const named = namedIn(sentence, terms);
  return open.length === 0 || named.length === 0 ? [] : [...named, ...open];
}

/** What looks like a name in a sentence, and stands not in the question. */
function namedIn(sentence: string, terms: readonly Term[]): Term[] {
  const known = new Set(terms.map(({ text: word }) => word));
  return informativeTerms(sentence).filter(
    ({ text: word, original }) => !known.has(word) && /^\p{Lu}|\d|[_/.-]/u.test(original),
  );
}

/** Tools that look something up by one string, those named for recalling first, then in order. */
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
  if (!/grep/i.test(toolName)) return allOf(terms);
  const words = terms.map(({ original }) => original);
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest));
}

const allOf = (terms: readonly Term[]) => terms.map(({ original }) => original).join(" ");

/** True: it can put first what holds most of the words, and need not hold all of them. */
function ranks({ parameters }: ToolDefinition): boolean {
  const { properties } = parameters as { properties?: { sort?: { enum?: unknown } } };
  const sorts: unknown = properties?.sort?.enum;
  return Array.isArray(sorts) && sorts.includes("relevance");
}

function lastResult(messages: readonly AgentMessage[]): string {
  const result = messages.findLast(({ role }) => role === "toolResult");
  return result === undefined ? "" : shownText(result);
}

const text = (words: string): OfflinePlan => ({ kind: "text", text: words });
