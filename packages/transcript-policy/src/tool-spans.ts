// Tells which messages belong to a turn with tool calls.
import {
  callId,
  isToolCall,
  nonBlank,
  resultId,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
} from "./stored.ts";

/** An assistant message with calls, and the messages up to the next one. */
export interface Span {
  start: number;
  end: number;
  calls: readonly StoredBlock[];
  /** How many of the calls carry each id. */
  ids: ReadonlyMap<string, number>;
}

/** All turns with calls, each with what follows it up to the next one. */
export function findSpans(messages: readonly StoredMessage[]): Span[] {
  const spans: Span[] = [];
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!;
    if (roleOf(message) !== "assistant") continue;
    const calls = storedBlocks(message).filter(isToolCall);
    if (calls.length === 0) continue;
    const previous = spans.at(-1);
    if (previous !== undefined) previous.end = index;
    const ids = new Map<string, number>();
    for (const call of calls) ids.set(keyOf(call), (ids.get(keyOf(call)) ?? 0) + 1);
    spans.push({ start: index, end: messages.length, calls, ids });
  }
  return spans;
}

/**
 * Results that answer no call of the span they stand in; an earlier call that has none may claim
 * one.
 */
export class Strays {
  readonly #byId = new Map<string, { indexes: number[]; next: number }>();
  readonly #unclaimed = new Set<number>();

  add(id: string | undefined, index: number): void {
    this.#unclaimed.add(index);
    if (id === undefined) return;
    const queue = this.#byId.get(id);
    if (queue === undefined) this.#byId.set(id, { indexes: [index], next: 0 });
    else queue.indexes.push(index);
  }

  /**
   * The first stray for this id at or after `from`; spans ask in ascending order, so earlier ones
   * are of no use to anybody.
   */
  claim(id: string, from: number): number | undefined {
    const queue = this.#byId.get(id);
    if (queue === undefined) return undefined;
    while ((queue.indexes[queue.next] ?? from) < from) queue.next += 1;
    const claimed = queue.indexes[queue.next];
    queue.next += 1;
    if (claimed !== undefined) this.#unclaimed.delete(claimed);
    return claimed;
  }

  unclaimed(): Iterable<number> {
    return this.#unclaimed;
  }
}

/** Every result that answers no call of its own span. */
export function findStrays(messages: readonly StoredMessage[], spans: readonly Span[]): Strays {
  const strays = new Strays();
  for (const span of spans) {
    for (let index = span.start + 1; index < span.end; index++) {
      const message = messages[index]!;
      if (roleOf(message) !== "toolResult") continue;
      const id = resultId(message);
      if (id === undefined ? !mayAdopt(span, message) : !span.ids.has(id)) strays.add(id, index);
    }
  }
  return strays;
}

/**
 * What follows a turn up to the next one with calls: results by the id they answer, and everything
 * that is no result.
 */
export function collectSpan(
  messages: readonly StoredMessage[],
  span: Span,
): { others: number[]; results: Map<string, number[]> } {
  const others: number[] = [];
  const results = new Map<string, number[]>();
  for (let index = span.start + 1; index < span.end; index++) {
    const message = messages[index]!;
    if (roleOf(message) !== "toolResult") {
      others.push(index);
      continue;
    }
    const id = resultId(message) ?? (mayAdopt(span, message) ? keyOf(span.calls[0]!) : undefined);
    if (id === undefined || !span.ids.has(id)) continue;
    const known = results.get(id);
    if (known === undefined) results.set(id, [index]);
    else known.push(index);
  }
  return { others, results };
}

/** A result that lost its id belongs to the only call there is, unless it names another tool. */
function mayAdopt(span: Span, result: StoredMessage): boolean {
  const name = nonBlank(result.toolName);
  return span.calls.length === 1 && (name === undefined || name === nameOf(span.calls[0]!));
}

/** The id results are matched by. */
export const keyOf = (call: StoredBlock): string => callId(call).trim();

export const nameOf = (call: StoredBlock): string | undefined => nonBlank(call.name);
