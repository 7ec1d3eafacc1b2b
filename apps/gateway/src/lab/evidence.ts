// Which names the next replies use, and whether a request still holds them.

import type { ReportItem } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { namesIn, type TranscriptEntry, textOf } from "@clew/plugin-sdk/transcript";
import type { RecordedTurn } from "../replay/recorded-turns.ts";

/** Replies ahead in which a name counts as needed. */
const HORIZON = 20;
/** Longer arguments are texts that were written then, not names that were looked up. */
const LONGEST_ARGUMENT = 300;

/** Names of each recorded call, by turn and step. */
export type NeededNames = readonly (readonly ReadonlySet<string>[])[];

/**
 * Pure. Names in the arguments of tool calls, of this reply and the next ones, that somebody had
 * named before. A name that stands in view need not be noticed, and one that is gone was not missed
 * by the recorded model: this compares engines on one recording, and measures nothing else.
 */
export function planNeededNames(turns: readonly RecordedTurn[]): NeededNames {
  const first = firstNamed(turns);
  const used = turns.flatMap(({ steps }) => steps.map(({ reply }) => usedNames(reply)));
  let next = 0;
  return turns.map(({ steps }) =>
    steps.map(() => {
      const at = next++;
      const ahead = used.slice(at, at + HORIZON).flat();
      return new Set(ahead.filter((name) => (first.get(name) ?? Number.POSITIVE_INFINITY) <= at));
    }),
  );
}

/** Before which step's reply each name was there first. */
function firstNamed(turns: readonly RecordedTurn[]): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  let at = 0;
  const add = (message: AgentMessage, step: number) => {
    for (const { name } of namesIn(everythingIn(message)))
      if (!first.has(name)) first.set(name, step);
  };
  for (const { prompt, steps, after } of turns) {
    if (prompt !== null) add(prompt, at);
    for (const { before, reply, results } of steps) {
      for (const message of before) add(message, at);
      at++;
      for (const message of [reply, ...results]) add(message, at);
    }
    for (const message of after) add(message, at);
  }
  return first;
}

/** How many of `needed` the request holds, wherever in it. */
export function countPresent({ systemPrompt, messages }: ModelCall, needed: ReadonlySet<string>) {
  const texts = [systemPrompt, ...messages.map(everythingIn)];
  return [...needed].filter((name) => texts.some((text) => text.includes(name))).length;
}

/**
 * The same of requests that were sent, by what the entries in them say; one that was shortened
 * counts whole.
 */
export function namesHeld(branch: readonly TranscriptEntry[]) {
  const said = new Map(branch.map((entry) => [entry.id, entry]));
  const textIn = (entry: TranscriptEntry | undefined): string => {
    if (entry?.type === "message") return everythingIn(entry.message);
    return entry?.type === "compaction" ? entry.summary : "";
  };
  const textOfItem = ({ source }: ReportItem): string => {
    if (source.kind === "entry") return textIn(said.get(source.entryId));
    return source.kind === "summary" ? textIn(said.get(source.summaryId)) : "";
  };
  return (sent: readonly ReportItem[], needed: ReadonlySet<string>): number => {
    if (needed.size === 0) return 0;
    const all = sent.map(textOfItem);
    return [...needed].filter((name) => all.some((text) => text.includes(name))).length;
  };
}

const texts = new WeakMap<AgentMessage, string>();

function everythingIn(message: AgentMessage): string {
  const known = texts.get(message);
  if (known !== undefined) return known;
  const calls = callsOf(message).map((call) => JSON.stringify(call.arguments));
  const text = [textOf(message), ...calls].join("\n");
  texts.set(message, text);
  return text;
}

const callsOf = (message: AgentMessage) =>
  message.role === "assistant" && Array.isArray(message.content)
    ? message.content.flatMap((block) => (block.type === "toolCall" ? [block] : []))
    : [];

const usedNames = (message: AgentMessage): string[] =>
  callsOf(message)
    .flatMap((call) => shortTextsIn(call.arguments))
    .flatMap((text) => namesIn(text).map(({ name }) => name));

function shortTextsIn(value: unknown): string[] {
  if (typeof value === "string") return value.length <= LONGEST_ARGUMENT ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(shortTextsIn);
}
