// Reads off a stretch of messages what it was about, without a model.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { blocksOf, headOf, namesIn, otherSessionOf, textOf } from "@clew/plugin-sdk/transcript";
import { fileAccessesIn } from "../files/accesses.ts";
import { isRecall } from "../messages/quoting.ts";
import { type StoredMessage, timeOf } from "../store/rows.ts";
import type { DayFacts, Facts, FactsReader, Quote } from "../store/summary-rows.ts";

/** Days that facts tell apart. */
export const MOST_DAYS = 16;

/** Clients say in tags what they add in a person's name. */
const BY_CLIENT = /^\s*<[a-z][\w-]*>/;
const REQUEST_CHARS = 160;
const ANSWER_CHARS = 120;
const PATH_CHARS = 120;
/** Of a request or a command, to look for names in. */
const NAMING_CHARS = 2_000;
const MOST_ASKED = 5;
const MOST_ANSWERED = 2;
const MOST_FILES = 8;
const COMMAND_KEYS = ["command", "cmd", "script"] as const;

/** Pure. Of messages of one conversation, in the order in which they came. */
export function factsOf(messages: readonly StoredMessage[]): Facts {
  const times = messages.flatMap(({ message }) => timeOf(message) ?? []);
  const days: DayFacts[] = [];
  let day: string | null = times[0] === undefined ? null : dayOf(times[0]);
  let run: StoredMessage[] = [];
  const close = () => {
    if (run.length > 0) days.push(dayFacts(day, run));
    run = [];
  };
  for (const stored of messages) {
    const time = timeOf(stored.message);
    const now = time === null ? day : dayOf(time);
    if (now !== day) close();
    day = now;
    run.push(stored);
  }
  close();
  return {
    messages: messages.length,
    tokens: messages.reduce((sum, { message }) => sum + estimateMessage(message).estimate, 0),
    ...spanOf(times),
    days: boundedDays(days),
  };
}

/** Pure. Of stretches that follow one another; bounded, however many they are. */
export function mergeFacts(parts: readonly Facts[]): Facts {
  return {
    messages: parts.reduce((sum, { messages }) => sum + messages, 0),
    tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
    ...spanOf(parts.flatMap(({ since, until }) => [since ?? [], until ?? []].flat())),
    days: boundedDays(parts.flatMap(({ days }) => days)),
  };
}

/** How this engine reads facts. */
export const READER: FactsReader = { ofMessages: factsOf, ofParts: mergeFacts };

/** A day in UTC, as ISO 8601 writes it. */
export const dayOf = (ms: number): string | null => {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().slice(0, 10);
};

const spanOf = (times: readonly number[]) => ({
  since: times.length === 0 ? null : times.reduce((least, time) => Math.min(least, time)),
  until: times.length === 0 ? null : times.reduce((most, time) => Math.max(most, time)),
});

function dayFacts(day: string | null, messages: readonly StoredMessage[]): DayFacts {
  const said = messages.filter(isSaid);
  const asked = said.flatMap(({ seq, message }) =>
    message.role === "user" &&
    otherSessionOf(message) === undefined &&
    !BY_CLIENT.test(textOf(message))
      ? quoted(seq, textOf(message), REQUEST_CHARS)
      : [],
  );
  const times = new Map<string, number>();
  for (const { message } of said)
    for (const [path, weight] of pathsIn(message)) times.set(path, (times.get(path) ?? 0) + weight);
  return {
    ...{ from: day, to: day, messages: messages.length, requests: asked.length },
    asked: mostTelling(asked, MOST_ASKED),
    files: mostNamed([...times]),
    answered: mostTelling(answersIn(said), MOST_ANSWERED),
  };
}

/** What a run of the host's own, a branch that was left or a recall says is no news. */
const isSaid = ({ message, isHeartbeat, isLeft, isDamaged }: StoredMessage): boolean =>
  isHeartbeat !== true && isLeft !== true && isDamaged !== true && !isRecall(message);

/** The last words before each request, and at the end. */
function answersIn(said: readonly StoredMessage[]): Quote[] {
  return said.flatMap(({ seq, message }, at) => {
    const next = said[at + 1]?.message;
    if (message.role !== "assistant" || (next !== undefined && next.role !== "user")) return [];
    const isCalling = blocksOf(message.content).some(({ type }) => type === "toolCall");
    return isCalling ? [] : quoted(seq, textOf(message), ANSWER_CHARS);
  });
}

function quoted(seq: number, text: string, most: number): Quote[] {
  const clean = headOf(text, 4 * most)
    .replaceAll(/\s+/gu, " ")
    .trim();
  return clean === "" ? [] : [{ seq, text: headOf(clean, most).toWellFormed() }];
}

function* pathsIn(message: AgentMessage): Generator<readonly [path: string, weight: number]> {
  const isShort = (path: string) => path.length <= PATH_CHARS && !/\s/u.test(path);
  for (const { path, changes } of fileAccessesIn(message))
    if (isShort(path)) yield [path.toWellFormed(), changes ? 3 : 1];
  for (const text of namingTexts(message))
    for (const { kind, name } of namesIn(headOf(text, NAMING_CHARS)))
      if (kind === "path" && isShort(name)) yield [name.toWellFormed(), 1];
}

function namingTexts(message: AgentMessage): string[] {
  if (message.role === "user") return [textOf(message)];
  if (message.role !== "assistant") return [];
  return blocksOf(message.content).flatMap((block) => {
    if (block.type !== "toolCall") return [];
    const given = (block.arguments ?? {}) as Record<string, unknown>;
    return COMMAND_KEYS.map((key) => given[key]).filter((text) => typeof text === "string");
  });
}

const mostNamed = (files: readonly (readonly [string, number])[]) =>
  [...files].sort(([, one], [, other]) => other - one).slice(0, MOST_FILES);

const WORD = /[\p{L}\p{N}]{3,}/gu;

/**
 * Those that together hold most of the words, in their order: "go on" a hundred times tells less
 * than the one request that began it.
 */
function mostTelling(quotes: readonly Quote[], most: number): readonly Quote[] {
  if (quotes.length <= most) return quotes;
  const words = quotes.map(({ text }) => new Set(text.toLowerCase().match(WORD) ?? []));
  const known = new Set<string>();
  const chosen = new Set<number>();
  while (chosen.size < most) {
    const news = words.map((set, at) =>
      chosen.has(at) ? -1 : [...set].filter((word) => !known.has(word)).length,
    );
    const best = news.indexOf(Math.max(...news));
    chosen.add(best);
    for (const word of words[best]!) known.add(word);
  }
  return quotes.filter((_, at) => chosen.has(at));
}

/** Days that are the same become one; of too many, neighbours with least to tell do. */
function boundedDays(days: readonly DayFacts[]): readonly DayFacts[] {
  const bounded: DayFacts[] = [];
  for (const day of days) {
    const last = bounded.at(-1);
    if (last !== undefined && last.from === day.from && last.to === day.to)
      bounded[bounded.length - 1] = joined(last, day);
    else bounded.push(day);
  }
  while (bounded.length > MOST_DAYS) {
    const sizes = bounded.slice(1).map((day, at) => day.messages + bounded[at]!.messages);
    const at = sizes.indexOf(Math.min(...sizes));
    bounded.splice(at, 2, joined(bounded[at]!, bounded[at + 1]!));
  }
  return bounded;
}

function joined(one: DayFacts, other: DayFacts): DayFacts {
  const times = new Map(one.files);
  for (const [path, more] of other.files) times.set(path, (times.get(path) ?? 0) + more);
  const known = [one.from, one.to, other.from, other.to].filter((day) => day !== null).sort();
  return {
    ...{ from: known[0] ?? null, to: known.at(-1) ?? null },
    messages: one.messages + other.messages,
    requests: one.requests + other.requests,
    asked: mostTelling([...one.asked, ...other.asked], MOST_ASKED),
    files: mostNamed([...times]),
    answered: mostTelling([...one.answered, ...other.answered], MOST_ANSWERED),
  };
}
