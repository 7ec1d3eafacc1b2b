// Counts which facts of the messages that a summary stands for its text still holds.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { createSlices } from "@clew/plugin-sdk/host";
import { namesIn, pathsInLedger, textOf } from "@clew/plugin-sdk/transcript";
import type { SummaryFacts } from "./shapes/one-call.ts";

type Kind = keyof SummaryFacts["kinds"];

const KINDS = { path: "paths", symbol: "symbols", id: "ids" } as const;
/** "4,096", "12.5", "2026-11-27": one digit alone says nothing. */
const NUMBER = /(?<![\p{L}\p{N}_./-])\d[\d.,:-]*\d(?![\p{L}\p{N}_/])/gu;
/** Of a text; longer ones are files that somebody pasted or wrote. */
const MOST_CHARS = 20_000;
/** Longer arguments are texts that were written then. */
const LONGEST_ARGUMENT = 300;
/** Missing ones are named up to here, those that were said most often first. */
const MOST_MISSING = 20;

/**
 * Exact names and numbers in what persons and the model said and asked tools for, each once: what
 * only a tool printed nobody took up. Held is what stands in `summary` letter by letter, paths that
 * share a line with their folder read whole: what it says in other words is missing, and what it
 * says wrongly about a name is held. By code alone.
 */
export async function factsHeld(
  messages: Iterable<AgentMessage>,
  summary: string,
): Promise<SummaryFacts> {
  const said = new Map<string, { kind: Kind; times: number }>();
  const slices = createSlices();
  for (const message of messages) {
    if (slices.isOver()) await slices.next();
    for (const [fact, kind] of factsIn(message)) {
      const known = said.get(fact);
      if (known === undefined) said.set(fact, { kind, times: 1 });
      else known.times++;
    }
  }
  const none = () => ({ all: 0, held: 0 });
  // A ledger names a folder once for its files.
  const text = [summary, ...pathsInLedger(summary)].join("\n");
  const kinds = { paths: none(), symbols: none(), ids: none(), numbers: none() };
  const missing: { fact: string; times: number }[] = [];
  for (const [fact, { kind, times }] of said) {
    kinds[kind].all++;
    if (text.includes(fact)) kinds[kind].held++;
    else missing.push({ fact, times });
  }
  const sum = (of: "all" | "held") => Object.values(kinds).reduce((all, kind) => all + kind[of], 0);
  return {
    ...{ all: sum("all"), held: sum("held"), kinds },
    missing: missing
      .toSorted((one, other) => other.times - one.times)
      .slice(0, MOST_MISSING)
      .map(({ fact }) => fact),
  };
}

/** Of one message, each once. */
function factsIn(message: AgentMessage): Map<string, Kind> {
  const facts = new Map<string, Kind>();
  if (message.role === "toolResult") return facts;
  for (const text of [textOf(message), ...argumentsOf(message)]) {
    const head = text.slice(0, MOST_CHARS);
    for (const { kind, name, weak } of namesIn(head)) if (!weak) facts.set(name, KINDS[kind]);
    for (const [number] of head.matchAll(NUMBER))
      if (!facts.has(number)) facts.set(number, "numbers");
  }
  return facts;
}

const argumentsOf = (message: AgentMessage): string[] =>
  message.role === "assistant" && Array.isArray(message.content)
    ? message.content.flatMap((block) =>
        block.type === "toolCall" ? textsIn(block.arguments) : [],
      )
    : [];

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.length <= LONGEST_ARGUMENT ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
