// What a pass is, and how one is made.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { inSlices, type PolicyChange } from "@clew/plugin-sdk/host";
import { asAgentMessages, asStored, type StoredMessage } from "./stored.ts";
import type { Traits } from "./traits.ts";

/** What a pass made of a list of messages. */
export interface PassResult {
  /** The very array that was given when nothing had to change. */
  messages: readonly AgentMessage[];
  /** One for each thing that was changed; empty when nothing was. */
  changes: readonly PolicyChange[];
}

/**
 * Records one change to the message at `index` of the list the pass was given.
 * @internal
 */
export type Report = (action: PolicyChange["action"], index: number, reason: string) => void;

/** Where the current time comes from; the wall clock when none is given. */
export interface Clock {
  /** ms since the epoch. */
  now(): number;
}

/** A pure function over messages: flags beside them in, messages and changes out. */
export interface Pass<Options> {
  /** The same array for messages it has no reason to change; never changes what it is given. */
  (input: { messages: readonly AgentMessage[] } & Options): PassResult;
  /** False: a list with these traits comes out as it went in. */
  readonly applies: (traits: Traits) => boolean;
}

/** A pass that has to wait for something. */
export type AsyncPass<Options> = (
  input: { messages: readonly AgentMessage[] } & Options,
) => Promise<PassResult>;

/**
 * Makes a pass of a function over stored messages. The function must not change what it is given,
 * and calls `report` once per change; the pass then returns the same array for the same messages.
 * `applies` says when it has anything to look at; by default, always.
 * @internal
 */
export function definePass<Options>(
  rule: string,
  run: (
    messages: readonly StoredMessage[],
    options: Options,
    report: Report,
  ) => readonly StoredMessage[],
  applies: (traits: Traits) => boolean = () => true,
): Pass<Options> {
  const pass = (input: { messages: readonly AgentMessage[] } & Options): PassResult => {
    const { changes, report } = reporter(rule);
    return resultOf(input.messages, run(asStored(input.messages), input, report), changes);
  };
  return Object.assign(pass, { applies });
}

/**
 * The same for a function that has to wait.
 * @internal
 */
export function defineAsyncPass<Options>(
  rule: string,
  run: (
    messages: readonly StoredMessage[],
    options: Options,
    report: Report,
  ) => Promise<readonly StoredMessage[]>,
): AsyncPass<Options> {
  return async (input) => {
    const { changes, report } = reporter(rule);
    return resultOf(input.messages, await run(asStored(input.messages), input, report), changes);
  };
}

function reporter(rule: string): { changes: PolicyChange[]; report: Report } {
  const changes: PolicyChange[] = [];
  return {
    changes,
    report: (action, index, reason) => changes.push({ rule, action, index, reason }),
  };
}

const resultOf = (
  before: readonly AgentMessage[],
  after: readonly StoredMessage[],
  changes: readonly PolicyChange[],
): PassResult => ({
  messages: isSameList(asStored(before), after) ? before : asAgentMessages(after),
  changes,
});

/**
 * Maps a list, copying it only from the first change on; undefined drops the item.
 * @internal
 */
export function mapChanged<T>(
  items: readonly T[],
  map: (item: T, index: number) => T | undefined,
): readonly T[] {
  let copy: T[] | undefined;
  for (let index = 0; index < items.length; index++) {
    const item = items[index]!;
    const mapped = map(item, index);
    if (copy === undefined) {
      if (mapped === item && mapped !== undefined) continue;
      copy = items.slice(0, index);
    }
    if (mapped !== undefined) copy.push(mapped);
  }
  return copy ?? items;
}

/**
 * The same while others have their turn.
 * @internal
 */
export async function mapChangedInSlices<T>(
  items: readonly T[],
  map: (item: T, index: number) => T | undefined,
): Promise<readonly T[]> {
  const mapped: (T | undefined)[] = [];
  await inSlices(items, (item) => mapped.push(map(item, mapped.length)));
  return mapChanged(items, (_, index) => mapped[index]);
}

function isSameList<T>(before: readonly T[], after: readonly T[]): boolean {
  return (
    before === after ||
    (before.length === after.length && before.every((item, index) => item === after[index]))
  );
}
