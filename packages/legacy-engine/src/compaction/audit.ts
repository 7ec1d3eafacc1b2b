// Judges whether a summary has its headings, exact identifiers and the latest request.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { Steps } from "@clew/plugin-sdk/host";
import { blocksOf, namesIn, SUMMARY_HEADINGS, textOf } from "@clew/plugin-sdk/transcript";
import { argumentsOf } from "./call-arguments.ts";

const RECENT_MESSAGES = 10;
const MAX_IDENTIFIERS = 12;
/** Of one call; what a model asks for by hand has no more. */
const MAX_ARGUMENTS = 200;
const MAX_SCANNED = 50_000;

export interface AuditInput {
  /** What a model wrote. */
  text: string;
  /** What code writes beside it; identifiers and the request may stand there. Absent: nothing. */
  beside?: string;
  /** Identifiers that must stand in it. */
  identifiers: readonly string[];
  /** What was asked last; undefined = nothing to reflect. */
  latestAsk: string | undefined;
}

export type AuditProblem =
  | { kind: "heading"; heading: string; found: "missing" | "twice" | "out of order" }
  | { kind: "identifiers"; missing: string[] }
  | { kind: "latest-ask" };

/** Everything that is wrong with a summary; empty = it may be written (spec "compaction" §2.7). */
export function auditSummary({
  text,
  beside = "",
  identifiers,
  latestAsk,
}: AuditInput): AuditProblem[] {
  const whole = `${text}\n${beside}`;
  const missing = missingIdentifiers(whole, identifiers);
  return [
    ...headingProblems(text),
    ...(missing.length > 0 ? [{ kind: "identifiers" as const, missing }] : []),
    ...(latestAsk !== undefined && !reflects(whole, latestAsk)
      ? [{ kind: "latest-ask" as const }]
      : []),
  ];
}

/** The problem as a sentence for the model that shall correct it. */
export function describeProblem(problem: AuditProblem): string {
  switch (problem.kind) {
    case "heading":
      return problem.found === "missing"
        ? `The heading "${problem.heading}" is missing.`
        : `The heading "${problem.heading}" stands ${problem.found === "twice" ? "there twice" : "in the wrong place"}.`;
    case "identifiers":
      return `These identifiers must stand in it exactly: ${problem.missing.join(", ")}.`;
    case "latest-ask":
      return 'The latest request is not reflected; put it under "## Pending user asks", or under Done if it was answered.';
  }
}

function headingProblems(text: string): AuditProblem[] {
  const lines = text.split("\n").map((line) => line.trimEnd());
  const problems: AuditProblem[] = [];
  let last = -1;
  for (const heading of SUMMARY_HEADINGS) {
    const at = lines.indexOf(heading);
    if (at < 0) problems.push({ kind: "heading", heading, found: "missing" });
    else if (lines.indexOf(heading, at + 1) >= 0)
      problems.push({ kind: "heading", heading, found: "twice" });
    else if (at < last) problems.push({ kind: "heading", heading, found: "out of order" });
    last = Math.max(last, at);
  }
  return problems;
}

const HEX = /^(?=.*[a-f])(?=.*\d)[0-9a-f-]{7,}$/i;

function missingIdentifiers(text: string, identifiers: readonly string[]): string[] {
  const lower = text.toLowerCase();
  return identifiers.filter(
    (identifier) =>
      !(HEX.test(identifier)
        ? lower.includes(identifier.toLowerCase())
        : text.includes(identifier)),
  );
}

/** A version is easily found out again. */
const VERSION = /^v?\d+\.\d+\.\d+(?!\.\d)/;

/**
 * At most 12 identifiers of the last 10 messages: first those that people and the model wrote,
 * newest first, then those of tool output. In steps.
 */
export function* identifierSteps(messages: readonly AgentMessage[]): Steps<string[]> {
  const recent = messages.slice(-RECENT_MESSAGES).reverse();
  const found = new Set<string>();
  for (const text of textsByWeight(recent)) {
    yield;
    for (const name of opaqueIn(text)) {
      found.add(name);
      if (found.size === MAX_IDENTIFIERS) return [...found];
    }
  }
  return [...found];
}

/** What people and the model wrote, then what tools did. */
function* textsByWeight(messages: readonly AgentMessage[]): Generator<string> {
  for (const message of messages) {
    if (message.role === "toolResult") continue;
    yield textOf(message);
    yield* shortArguments(message);
  }
  for (const message of messages) if (message.role === "toolResult") yield textOf(message);
}

/**
 * Only what nobody could guess again: the name of a file or of something in a program is no loss
 * worth a second request.
 */
const opaqueIn = (text: string) =>
  namesIn(text).flatMap(({ kind, name, weak }) =>
    (kind === "id" && !weak && !VERSION.test(name)) || (kind === "path" && name.includes("/"))
      ? [name]
      : [],
  );

function* shortArguments(message: AgentMessage): Generator<string> {
  if (message.role !== "assistant") return;
  for (const block of blocksOf(message.content)) {
    if (block.type !== "toolCall") continue;
    let read = 0;
    for (const [, value] of argumentsOf(block)) {
      if (++read > MAX_ARGUMENTS) break;
      if (typeof value === "string" && value.length <= 400) yield value;
    }
  }
}

const STOP_WORDS = new Set(
  "about after again also because been before being could does doing done down each from have here into just like make more most need only other over please same should some such than that them then there these they this those through under until very want were what when where which while will with would your yours can you the and for not are but how why all any its now let out use our has had was who".split(
    " ",
  ),
);
const MAX_KEYWORDS = 40;

/**
 * Words that carry a request: three letters or more; of scripts without
 * spaces, every two characters.
 */
export function keywordsOf(text: string): string[] {
  const lower = text.slice(0, MAX_SCANNED).toLowerCase();
  const words = (lower.match(/[\p{L}\p{N}_./-]{3,}/gu) ?? []).filter(
    (word) => !STOP_WORDS.has(word) && !DENSE.test(word) && word.length <= 60,
  );
  const pairs = [
    ...lower.matchAll(
      /(?=([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{2}))/gu,
    ),
  ].map((match) => match[1]!);
  return [...new Set([...words, ...pairs])].slice(0, MAX_KEYWORDS);
}

const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Two keywords of three or more, else one; a request without keywords is reflected by anything. */
function reflects(text: string, ask: string): boolean {
  const keywords = keywordsOf(ask);
  if (keywords.length === 0) return true;
  const lower = text.toLowerCase();
  const hits = keywords.filter((keyword) => lower.includes(keyword)).length;
  return hits >= (keywords.length >= 3 ? 2 : 1);
}

/**
 * The summary with what the check missed added by code, under its own headings. Only for a summary
 * whose headings are right; undefined when they are not.
 */
export function amendSummary(
  body: string,
  problems: readonly AuditProblem[],
  latestAsk: string | undefined,
): string | undefined {
  if (problems.some(({ kind }) => kind === "heading")) return undefined;
  let text = body;
  for (const problem of problems) {
    if (problem.kind === "identifiers")
      text = addUnder(text, "## Exact identifiers", problem.missing);
    if (problem.kind === "latest-ask" && latestAsk !== undefined)
      text = addUnder(text, "## Pending user asks", [latestAsk]);
  }
  return text;
}

function addUnder(text: string, heading: string, items: readonly string[]): string {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.trimEnd() === heading);
  return [
    ...lines.slice(0, at + 1),
    ...items.map((item) => `- ${item}`),
    ...lines.slice(at + 1),
  ].join("\n");
}
