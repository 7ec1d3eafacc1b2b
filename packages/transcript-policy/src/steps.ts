// Runs passes in order, leaving out those that certainly change nothing.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { inSlices, type PolicyChange } from "@clew/plugin-sdk/host";
import type { Pass, PassResult } from "./pass.ts";
import { asStored } from "./stored.ts";
import { type Traits, traitsOf } from "./traits.ts";

/** A pass bound to its options. */
export interface Step {
  run: (messages: readonly AgentMessage[]) => PassResult;
  /** False: a list with these traits comes out as it went in. */
  applies: (traits: Traits) => boolean;
}

export const step = <Options>(pass: Pass<Options>, options: Options): Step => ({
  run: (messages) => pass({ messages, ...options }),
  applies: pass.applies,
});

const MAX_ROUNDS = 8;

/** Runs lists of steps over one history, and remembers which of them found nothing to do. */
export class StepRunner {
  /** The list each step left as it was: it need not see that one again. */
  readonly #settled = new Map<Step, readonly AgentMessage[]>();
  #known: { messages: readonly AgentMessage[]; traits: Traits } | undefined;

  /** Each step once, in order. */
  run(messages: readonly AgentMessage[], steps: readonly Step[]): PassResult {
    const changes: PolicyChange[] = [];
    let current = messages;
    for (const step of steps) current = this.#runOne(step, current, changes);
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
      current = this.#runOne(step, current, changes);
    });
    return { messages: current, changes };
  }

  /**
   * The steps until none changes anything: one may undo what another relied on, and a second run
   * must find nothing to do.
   */
  settle(messages: readonly AgentMessage[], steps: readonly Step[]): PassResult {
    const changes: PolicyChange[] = [];
    let current = messages;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const result = this.run(current, steps);
      if (result.messages === current) break;
      current = result.messages;
      for (const change of result.changes) changes.push(change);
    }
    return { messages: current, changes };
  }

  #runOne(step: Step, messages: readonly AgentMessage[], changes: PolicyChange[]) {
    if (this.#settled.get(step) === messages || !step.applies(this.#traitsOf(messages)))
      return messages;
    const result = step.run(messages);
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
