// Lets two processes speak of messages that both have, so that each crosses once.

/** One list: what the other side has by numbers, in runs, and what it has not. */
export interface SentList {
  /** Pairs: a number and how many follow each other, or a number and what `fresh` has for it. */
  runs: Int32Array;
  /** Not known to the other side. */
  fresh: readonly unknown[];
}

/** In place of a count: the next of `fresh`, to be kept under the number, or not. */
const KEPT = -1;
const PASSING = -2;

/** The side whose messages never change: it gives them numbers. */
export interface Lender {
  /** Messages that can still change are sent each time. */
  send(list: readonly unknown[]): SentList;
}

/** The side that keeps what it was sent, until nobody over there has it any more. */
export interface Borrower {
  /** Adds to `given` what it takes. */
  take(list: SentList, given?: GivenMessages): unknown[];
  forget(numbers: readonly number[]): void;
}

/** `forget`: the numbers of messages that are nobody's here any more. */
export function createLender(forget: (numbers: number[]) => void): Lender {
  const numbers = new WeakMap<object, number>();
  let next = 1;
  let gone: number[] = [];
  const registry = new FinalizationRegistry<number>((number) => {
    gone.push(number);
    if (gone.length > 1) return;
    setImmediate(() => {
      forget(gone);
      gone = [];
    }).unref();
  });
  return {
    send(list) {
      const runs = createRuns();
      const fresh: unknown[] = [];
      for (const item of list) {
        const isObject = typeof item === "object" && item !== null;
        const known = isObject ? numbers.get(item) : undefined;
        if (known !== undefined) runs.add(known);
        else if (isObject && Object.isFrozen(item)) {
          numbers.set(item, next);
          registry.register(item, next);
          runs.addFresh(next++, KEPT);
          fresh.push(item);
        } else {
          runs.addFresh(0, PASSING);
          fresh.push(item);
        }
      }
      return { runs: runs.done(), fresh };
    },
  };
}

export function createBorrower(): Borrower {
  const messages = new Map<number, unknown>();
  return {
    take({ runs, fresh }, given = noneGiven()) {
      const list: unknown[] = [];
      let taken = 0;
      for (let at = 0; at < runs.length; at += 2) {
        const number = runs[at]!;
        const count = runs[at + 1]!;
        for (let each = number; each < number + count; each++) list.push(messages.get(each));
        if (count > 0) continue;
        const item = fresh[taken++];
        if (count === KEPT) messages.set(number, deepFreeze(item));
        else given.passing.add(item);
        list.push(item);
      }
      for (const item of list) given.list.push(item);
      return list;
    },
    forget(numbers) {
      for (const number of numbers) messages.delete(number);
    },
  };
}

/** What one call was given. */
export interface GivenMessages {
  list: unknown[];
  /** Those of them that may have been changed since. */
  passing: Set<unknown>;
}

export const noneGiven = (): GivenMessages => ({ list: [], passing: new Set() });

/** A list for the side that has what was given, by the places there. */
export function backList(
  list: readonly unknown[],
  { list: given, passing }: GivenMessages,
): SentList {
  const runs = createRuns();
  const fresh: unknown[] = [];
  let places: Map<unknown, number> | undefined;
  // Most engines return what they were given, or a tail of it.
  const tail = given.length - list.length;
  let shift = 0;
  for (let index = 0; index < list.length; index++) {
    const item = list[index];
    let place: number | undefined = index + shift;
    if (item !== given[place] && item === given[index + tail]) place = index + tail;
    else if (item !== given[place]) {
      places ??= new Map(given.map((each, at) => [each, at]));
      place = places.get(item);
    }
    if (typeof item !== "object" || place === undefined || passing.has(item)) {
      fresh.push(item);
      runs.addFresh(0, PASSING);
    } else {
      shift = place - index;
      runs.add(place);
    }
  }
  return { runs: runs.done(), fresh };
}

/** The same, read there. Throws when it names a place that there is not. */
export function takeBack({ runs, fresh }: SentList, given: readonly unknown[]): unknown[] {
  const list: unknown[] = [];
  let taken = 0;
  for (let at = 0; at < runs.length; at += 2) {
    const place = runs[at]!;
    const count = runs[at + 1]!;
    if (count < 0) list.push(fresh[taken++]);
    else if (place < 0 || place + count > given.length)
      throw new Error(`message ${place} of ${given.length} was answered`);
    else for (let each = place; each < place + count; each++) list.push(given[each]);
  }
  return list;
}

function createRuns() {
  let pairs = new Int32Array(64);
  let used = 0;
  const push = (number: number, count: number) => {
    if (used + 2 > pairs.length) {
      const larger = new Int32Array(pairs.length * 2);
      larger.set(pairs);
      pairs = larger;
    }
    pairs[used++] = number;
    pairs[used++] = count;
  };
  return {
    add(number: number) {
      const count = used === 0 ? 0 : pairs[used - 1]!;
      if (count > 0 && pairs[used - 2]! + count === number) pairs[used - 1] = count + 1;
      else push(number, 1);
    },
    addFresh: push,
    done: () => pairs.slice(0, used),
  };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  // Bytes cannot be frozen.
  if (ArrayBuffer.isView(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
