// Runs a program over characters, and remembers each step it has worked out.
import type { Alphabet, Letter, Side } from "./alphabet.ts";
import type { Assertion } from "./parse.ts";
import type { Instruction } from "./program.ts";

/** Where a program stands between two characters. */
export interface State {
  /**
   * Places of the program, those that began at one character together and a BORDER behind them;
   * what began earlier stands earlier.
   */
  readonly places: readonly number[];
  /** The character that was read last. */
  readonly side: Side;
  /** Nothing begins any more: it was found, or it has to begin where the reading began. */
  readonly isClosed: boolean;
  /** By the letter's index: what follows it. */
  readonly steps: (Step | undefined)[];
}

/** What one more character does. */
export interface Step {
  /** The pattern was found, and ends before that character. */
  readonly isFound: boolean;
  /** Undefined: nothing can be found any more. */
  readonly to: State | undefined;
  /** Places that were looked at to work it out. */
  readonly cost: number;
}

const BORDER = -1;
/** Places in all states that are remembered; 8 bytes each. */
const MOST_PLACES = 2_000_000;

/**
 * The states of a program, worked out when they are reached. Of what begins at different places
 * the first counts, and of that the longest.
 */
export class Automaton {
  readonly #program: readonly Instruction[];
  readonly #isReversed: boolean;
  readonly #alphabet: Alphabet;
  /** When each place was last reached. */
  readonly #reached: Float64Array;
  #round = 0;
  #states = new Map<string, State>();
  #places = 0;

  /** `isReversed`: characters come from the last to the first. */
  constructor(program: readonly Instruction[], alphabet: Alphabet, isReversed: boolean) {
    this.#program = program;
    this.#alphabet = alphabet;
    this.#isReversed = isReversed;
    this.#reached = new Float64Array(program.length + 1);
  }

  /** Where a reading begins beside a character; `isAnchored`: what is found begins there. */
  begin(side: Side, isAnchored: boolean): State {
    return this.#state(isAnchored ? [0, BORDER] : [], side, isAnchored);
  }

  step(state: State, letter: Letter): Step {
    const known = state.steps[letter.index];
    if (known !== undefined) return known;
    const step = this.#workOut(state, letter);
    state.steps[letter.index] = step;
    return step;
  }

  #workOut({ places, side, isClosed }: State, letter: Letter): Step {
    const round = ++this.#round;
    const next: number[] = [];
    let [isFound, cost, from] = [false, 0, 0];
    const starts = isClosed ? places : [...places, 0, BORDER];
    for (let at = 0; at < starts.length && !isFound; at++) {
      if (starts[at] !== BORDER) continue;
      const { leaves, isEnd, looked } = this.#follow(starts.slice(from, at), side, letter, round);
      from = at + 1;
      cost += looked;
      isFound = isEnd;
      const taken = leaves.filter((pc) => {
        const instruction = this.#program[pc]!;
        return instruction.kind === "set" && letter.takenBy(instruction.set);
      });
      if (taken.length > 0) next.push(...taken.map((pc) => pc + 1), BORDER);
    }
    const isOver = letter === this.#alphabet.end || (next.length === 0 && (isClosed || isFound));
    const to = isOver ? undefined : this.#state(next, letter.side, isClosed || isFound);
    return { isFound, to, cost: cost + next.length };
  }

  /** The places at which a character is taken, from `starts` on, each once in a round. */
  #follow(starts: readonly number[], side: Side, letter: Letter, round: number) {
    const leaves: number[] = [];
    const open = starts.toReversed();
    let [isEnd, looked] = [false, 0];
    for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
      if (this.#reached[pc] === round) continue;
      this.#reached[pc] = round;
      looked++;
      const instruction = this.#program[pc];
      if (instruction === undefined) isEnd = true;
      else if (instruction.kind === "set") leaves.push(pc);
      else if (instruction.kind === "split")
        for (const offset of instruction.to.toReversed()) open.push(pc + offset);
      else if (this.#holds(instruction.assertion, side, letter.side)) open.push(pc + 1);
    }
    return { leaves, isEnd, looked };
  }

  #holds(assertion: Assertion, last: Side, next: Side): boolean {
    const [before, after] = this.#isReversed ? [next, last] : [last, next];
    switch (assertion) {
      case "line-start":
        return before === "edge";
      case "line-end":
        return after === "edge";
      case "word-edge":
        return (before === "word") !== (after === "word");
      case "no-word-edge":
        return (before === "word") === (after === "word");
    }
  }

  #state(places: readonly number[], side: Side, isClosed: boolean): State {
    const key = `${side} ${isClosed} ${places.join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    if (this.#places > MOST_PLACES) {
      this.#states = new Map();
      this.#places = 0;
    }
    const state: State = { places, side, isClosed, steps: [] };
    this.#states.set(key, state);
    this.#places += places.length + 10;
    return state;
  }
}
