// Runs passes in order, leaving out those that certainly change nothing.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { inSlices, type PolicyChange } from "@clew/plugin-sdk/host";
import type { Pass, PassResult } from "./pass.ts";
import type { IdsBefore, NoteIds } from "./passes/ids-before.ts";
import { asStored } from "./stored.ts";
import { type Traits, traitsOf } from "./traits.ts";

/** A pass bound to its options. */
export interface Step {
  /** `before`: the ids of calls that stand before the messages. */
  run: (messages: readonly AgentMessage[], before?: IdsBefore) => PassResult;
  /** False: a list with these traits comes out as it went in. */
  applies: (traits: Traits) => boolean;
  /** Adds to what `before` is for messages that follow. Absent: it looks at no ids before. */
  note?: NoteIds | undefined;
}

export const step = <Options>(pass: Pass<Options>, options: Options, note?: NoteIds): Step => ({
  run: (messages, before) =>
    pass(before === undefined ? { messages, ...options } : { messages, ...options, before }),
  applies: pass.applies,
  note,
});

/** The ids that stand before what is run; those of later rounds are of what the first one made. */
export interface StepMemory {
  of(step: Step, round: number): IdsBefore | undefined;
}

/** What one run of steps over a part showed of its ids. */
export interface NotedRun {
  /** What each step was given and made of it in its first round. */
  readonly first: ReadonlyMap<
    Step,
    readonly [given: PassResult["messages"], made: PassResult["messages"]]
  >;
  /** The messages before the second round, and at last. */
  readonly second: PassResult["messages"];
  readonly last: PassResult["messages"];
}

const MAX_ROUNDS = 8;

/** Runs lists of steps over one history, and remembers which of them found nothing to do. */
export class StepRunner {
  /** The list each step left as it was: it need not see that one again. */
  readonly #settled = new Map<Step, readonly AgentMessage[]>();
  readonly #memory: StepMemory | undefined;
  readonly #first: Map<Step, readonly [readonly AgentMessage[], readonly AgentMessage[]]> =
    new Map();
  #second: readonly AgentMessage[] = [];
  #last: readonly AgentMessage[] = [];
  #known: { messages: readonly AgentMessage[]; traits: Traits } | undefined;

  /** `memory`: what stands before the messages. Default: nothing. */
  constructor(memory?: StepMemory) {
    this.#memory = memory;
  }

  /** What was seen of ids while they settled. */
  get noted(): NotedRun {
    return { first: this.#first, second: this.#second, last: this.#last };
  }

  /** Each step once, in order. */
  run(messages: readonly AgentMessage[], steps: readonly Step[], round = 0): PassResult {
    const changes: PolicyChange[] = [];
    let current = messages;
    for (const step of steps) current = this.#runOne(step, current, changes, round);
    return { messages: current, changes };
  }

  /** The same, with a turn for others between two steps where that has been long. */
  async runInSlices(
    messages: readonly AgentMessage[],
    steps: readonly Step[],
  ): Promise<PassResult> {
    const changes: PolicyChange[] = [];
    let current = messages;
    await inSlices(steps, (step) => {
      current = this.#runOne(step, current, changes, 0);
    });
    return { messages: current, changes };
  }

  /**
   * The steps until none changes anything: one may undo what another relied on, and a second run
   * must find nothing to do. `least`: how many rounds what stands before the messages took.
   */
  settle(messages: readonly AgentMessage[], steps: readonly Step[], least = 1): PassResult {
    const changes: PolicyChange[] = [];
    let current = messages;
    this.#second = messages;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const result = this.run(current, steps, round);
      if (result.messages === current && round + 1 >= least) break;
      current = result.messages;
      if (round === 0) this.#second = current;
      for (const change of result.changes) changes.push(change);
    }
    this.#last = current;
    return { messages: current, changes };
  }

  #runOne(
    step: Step,
    messages: readonly AgentMessage[],
    changes: PolicyChange[],
    round: number,
  ): readonly AgentMessage[] {
    const before = step.note && this.#memory?.of(step, round);
    // Behind other ids it may decide otherwise.
    const isKnown = before === undefined && this.#settled.get(step) === messages;
    if (isKnown || !step.applies(this.#traitsOf(messages))) return messages;
    const result = step.run(messages, before);
    if (before !== undefined && round === 0) this.#first.set(step, [messages, result.messages]);
    if (result.messages === messages) this.#settled.set(step, messages);
    for (const change of result.changes) changes.push(change);
    return result.messages;
  }

  #traitsOf(messages: readonly AgentMessage[]): Traits {
    if (this.#known?.messages !== messages)
      this.#known = { messages, traits: traitsOf(asStored(messages)) };
    return this.#known.traits;
  }
}
