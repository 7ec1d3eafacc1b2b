// Remembers the ids of what is settled, and tells whether a later message speaks of them.
import type { CallForms } from "./call-forms.ts";
import { isEmbeddedResult } from "./passes/contract-shape.ts";
import { callsIn, type IdsMemory, noIds } from "./passes/ids-before.ts";
import { isSynthetic } from "./passes/pair-tool-results.ts";
import { itemId } from "./passes/responses.ts";
import type { NotedRun, Step, StepMemory } from "./steps.ts";
import {
  asStored,
  callId,
  isThinking,
  nonBlank,
  resultId,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
} from "./stored.ts";

/**
 * What ids the settled part of a history left behind. Servers use them again in every turn; then
 * the steps that give ids go on counting where they were, as if they had seen the whole.
 */
export class SettledIds implements StepMemory {
  /** Ids that calls, results and items have there, before and after. */
  readonly #all = new Set<string>();
  /** Those of calls without a result of their own, which one that comes later may be of. */
  readonly #open = new Set<string>();
  readonly #formsOf: CallForms;
  /** By step: what it saw in the first round, and in those behind it. */
  readonly #first = new Map<Step, IdsMemory>();
  readonly #again = new Map<Step, IdsMemory>();
  #isCounted: boolean;

  /** `counts`: false where steps leave results without a call, or calls without a result. */
  constructor(formsOf: CallForms, counts: boolean) {
    this.#formsOf = formsOf;
    this.#isCounted = counts;
  }

  of(step: Step, round: number) {
    return this.#isCounted ? memoryOf(round === 0 ? this.#first : this.#again, step) : undefined;
  }

  /** Takes in what was settled: `given` as it is stored, `sent` as it goes to the model. */
  add(
    given: readonly StoredMessage[],
    sent: readonly StoredMessage[],
    { first, second, last }: NotedRun,
  ): void {
    for (const messages of [given, sent]) {
      for (const id of [...callIdsOf(messages), ...otherIdsOf(messages)]) this.#all.add(id);
      for (const id of openCalls(messages)) this.#open.add(id);
    }
    // More than two rounds: what the second one saw is none of what the others did.
    this.#isCounted &&= second === last || keysOf(asStored(second)) === keysOf(asStored(last));
    if (!this.#isCounted) return;
    for (const [step, [before, after]] of first) {
      step.note?.(memoryOf(this.#first, step), asStored(before), asStored(after));
      step.note?.(memoryOf(this.#again, step), asStored(last), asStored(last));
    }
  }

  /** True when one of the messages is of a call or an item of the settled part, or may be. */
  touchedBy(messages: readonly StoredMessage[]): boolean {
    if (this.#all.size === 0) return false;
    if (this.#hasAny(otherIdsOf(messages))) return true;
    return this.#isCounted
      ? this.#mayAnswer(resultsOfOthers(messages), messages)
      : this.#hasAny(callIdsOf(messages)) || this.#hasAny(this.#formsOfAll(messages));
  }

  /** True when a call was left out, and a result that may have been its own is now of nobody. */
  losesTo(given: readonly StoredMessage[], sent: readonly StoredMessage[]): boolean {
    if (!this.#isCounted || callsIn(given).length === callsIn(sent).length) return false;
    // Its calls may have other ids now than those by which its results were looked for.
    return this.#mayAnswer(resultIdsOf(given), [...given, ...sent]);
  }

  #hasAny(ids: Iterable<string>): boolean {
    for (const id of ids) if (this.#all.has(id)) return true;
    return false;
  }

  *#formsOfAll(messages: readonly StoredMessage[]): Generator<string> {
    for (const id of resultIdsOf(messages)) yield* this.#formsOf(id);
  }

  /**
   * True when one of the results may be of a settled call that waits, or when that its call is
   * settled keeps it from being taken for one of those that stand among the messages.
   */
  #mayAnswer(results: Iterable<string>, messages: readonly StoredMessage[]): boolean {
    const own = new Set(callsIn(messages).map((block) => nonBlank(block.id)));
    for (const id of results) {
      const forms = this.#formsOf(id);
      if (forms.some((form) => this.#open.has(form))) return true;
      const settled = forms.findIndex((form) => this.#all.has(form));
      if (settled >= 0 && forms.some((form, at) => at > settled && own.has(form))) return true;
    }
    return false;
  }
}

function memoryOf(memories: Map<Step, IdsMemory>, step: Step): IdsMemory {
  const known = memories.get(step);
  if (known !== undefined) return known;
  const made = noIds();
  memories.set(step, made);
  return made;
}

/** What of the calls decides ids: theirs, and whether they stand beside thinking. */
const keysOf = (messages: readonly StoredMessage[]): string =>
  JSON.stringify(
    messages
      .map((message) => [storedBlocks(message).some(isThinking), callsIn([message]).map(callId)])
      .filter(([, ids]) => (ids as readonly string[]).length > 0),
  );

/**
 * Calls up to the next reply: how many wait by id, and results that none of them waits for. A
 * result that comes after the model spoke again is told as news, and its call goes on waiting.
 */
function* spansOf(
  messages: readonly StoredMessage[],
): Generator<{ waiting: Map<string, number>; others: string[] }> {
  let span = { waiting: new Map<string, number>(), others: [] as string[] };
  let before: string | undefined;
  for (const message of messages) {
    const role = roleOf(message);
    const calls = callsIn([message]);
    if (calls.length > 0 || (role === "assistant" && before !== "assistant")) {
      yield span;
      span = { waiting: new Map(), others: [] };
    }
    before = role;
    for (const id of calls.map((block) => nonBlank(block.id)))
      if (id !== undefined) span.waiting.set(id, (span.waiting.get(id) ?? 0) + 1);
    const id = role === "toolResult" ? resultId(message) : undefined;
    if (id === undefined) continue;
    const left = isSynthetic(message) ? 0 : (span.waiting.get(id) ?? 0);
    if (left > 0) span.waiting.set(id, left - 1);
    else span.others.push(id);
  }
  yield span;
}

/** A call's result is the one behind it, though an earlier call had the same id. */
function* resultsOfOthers(messages: readonly StoredMessage[]): Generator<string> {
  for (const { others } of spansOf(messages)) yield* others;
}

function* openCalls(messages: readonly StoredMessage[]): Generator<string> {
  for (const { waiting } of spansOf(messages))
    for (const [id, left] of waiting) if (left > 0) yield id;
}

function* resultIdsOf(messages: readonly StoredMessage[]): Generator<string> {
  for (const message of messages)
    if (roleOf(message) === "toolResult") yield resultId(message) ?? "";
}

function* callIdsOf(messages: readonly StoredMessage[]): Generator<string> {
  yield* resultIdsOf(messages);
  for (const block of callsIn(messages)) {
    for (const part of callId(block).split("|")) yield part.trim();
    yield callId(block).trim();
  }
}

/** Ids that nobody counts: of items, and of results inside messages of another role. */
function* otherIdsOf(messages: readonly StoredMessage[]): Generator<string> {
  for (const message of messages) {
    for (const each of embeddedResults(message)) yield resultId(each) ?? "";
    if (roleOf(message) !== "assistant") continue;
    for (const block of storedBlocks(message)) {
      const item = itemId(block);
      if (item !== undefined) yield item;
    }
  }
}

/** Results inside a message of another role, as older hosts stored them. */
export const embeddedResults = (message: StoredMessage): readonly StoredBlock[] =>
  roleOf(message) === "assistant" ? [] : storedBlocks(message).filter(isEmbeddedResult);
