// Searches a text for a pattern in time that grows with the text only in proportion.
import { type Assertion, type CharSet, PatternError, type PatternNode } from "./parse.ts";

/** Where a pattern was found. */
export interface Match {
  /** Index of its first character. */
  readonly start: number;
  /** Index behind its last. */
  readonly end: number;
}

/** Finds the first place of a pattern from `from` on, the longest there; undefined: none. */
export type Matcher = (text: string, from?: number) => Match | undefined;

type Instruction =
  | { readonly kind: "set"; readonly set: CharSet }
  | { readonly kind: "split"; readonly to: readonly number[] }
  | { readonly kind: "assertion"; readonly assertion: Assertion };

/** What a repetition of a repetition may come to. */
const MOST_INSTRUCTIONS = 5_000;

/** Letters match whatever their case. Throws a PatternError for a pattern that is too large. */
export function matcherOf(pattern: PatternNode): Matcher {
  const program: Instruction[] = [];
  compile(pattern, program);
  return (text, from = 0) => run(program, text, from);
}

/** Appends what matches `node`; control goes on behind it. */
function compile(node: PatternNode, program: Instruction[]): void {
  if (program.length > MOST_INSTRUCTIONS)
    throw new PatternError("it asks for too many repetitions of repetitions");
  switch (node.kind) {
    case "set":
    case "assertion":
      program.push(node);
      return;
    case "sequence":
      for (const part of node.parts) compile(part, program);
      return;
    case "choice": {
      const starts: number[] = [];
      const split = program.push({ kind: "split", to: starts }) - 1;
      const jumps: number[][] = [];
      for (const option of node.options) {
        starts.push(program.length - split);
        compile(option, program);
        const jump: number[] = [];
        jumps.push(jump);
        jump.push(program.push({ kind: "split", to: jump }) - 1);
      }
      for (const jump of jumps) jump[0] = program.length - jump[0]!;
      return;
    }
    case "repeat":
      repeat(node, program);
  }
}

function repeat({ part, least, most }: PatternNode & { kind: "repeat" }, program: Instruction[]) {
  for (let time = 0; time < least; time++) compile(part, program);
  if (most === Infinity) {
    const to: number[] = [1];
    const split = program.push({ kind: "split", to }) - 1;
    compile(part, program);
    const back = program.length;
    program.push({ kind: "split", to: [split - back] });
    to.push(program.length - split);
    return;
  }
  const exits: { at: number; to: number[] }[] = [];
  for (let time = least; time < most; time++) {
    const to: number[] = [1];
    exits.push({ at: program.push({ kind: "split", to }) - 1, to });
    compile(part, program);
  }
  for (const { at, to } of exits) to.push(program.length - at);
}

/** All ways at once, each place of the program at most once per character. */
function run(program: readonly Instruction[], text: string, from: number): Match | undefined {
  const { length } = program;
  let threads = new Threads(length + 1);
  let next = new Threads(length + 1);
  let found: Match | undefined;
  const step = (into: Threads, pc: number, start: number, at: number): void => {
    const open = [pc];
    for (let here = open.pop(); here !== undefined; here = open.pop()) {
      if (!into.add(here, start)) continue;
      const instruction = program[here];
      if (instruction?.kind === "split")
        for (const offset of instruction.to.toReversed()) open.push(here + offset);
      else if (instruction?.kind === "assertion" && holds(instruction.assertion, text, at))
        open.push(here + 1);
    }
  };
  for (let at = from; ; ) {
    if (found === undefined) step(threads, 0, at, at);
    const code = text.codePointAt(at);
    for (const { pc, start } of threads.each()) {
      if (found !== undefined && start > found.start) continue;
      const instruction = program[pc];
      if (instruction === undefined) {
        if (found === undefined || start < found.start || at > found.end)
          found = { start, end: at };
      } else if (code !== undefined && instruction.kind === "set" && takes(instruction.set, code))
        step(next, pc + 1, start, at + (code > 0xffff ? 2 : 1));
    }
    if (code === undefined || (found !== undefined && next.isEmpty())) return found;
    [threads, next] = [next, threads];
    next.clear();
    at += code > 0xffff ? 2 : 1;
  }
}

/** Places of a program, each once, in the order in which they were reached. */
class Threads {
  readonly #starts: Int32Array;
  readonly #order: number[] = [];

  constructor(size: number) {
    this.#starts = new Int32Array(size).fill(-1);
  }

  add(pc: number, start: number): boolean {
    if (this.#starts[pc] !== -1) return false;
    this.#starts[pc] = start;
    this.#order.push(pc);
    return true;
  }

  *each() {
    for (const pc of this.#order) yield { pc, start: this.#starts[pc]! };
  }

  isEmpty(): boolean {
    return this.#order.length === 0;
  }

  clear(): void {
    for (const pc of this.#order) this.#starts[pc] = -1;
    this.#order.length = 0;
  }
}

function takes({ ranges, isNegated }: CharSet, code: number): boolean {
  const other = otherCase(code);
  const isIn = ranges.some(
    ([from, to]) => (code >= from && code <= to) || (other >= from && other <= to),
  );
  return isIn !== isNegated;
}

function otherCase(code: number): number {
  if (code >= 65 && code <= 90) return code + 32;
  if (code >= 97 && code <= 122) return code - 32;
  if (code < 128) return code;
  const point = String.fromCodePoint(code);
  const [lower, upper] = [point.toLowerCase(), point.toUpperCase()];
  const other = lower === point ? upper : lower;
  // Some letters become two in the other case: those have none here.
  return other.length > (code > 0xffff ? 2 : 1) ? code : other.codePointAt(0)!;
}

function holds(assertion: Assertion, text: string, at: number): boolean {
  switch (assertion) {
    case "line-start":
      return at === 0 || text[at - 1] === "\n";
    case "line-end":
      return at === text.length || text[at] === "\n";
    case "word-edge":
      return isWord(text[at - 1]) !== isWord(text[at]);
    case "no-word-edge":
      return isWord(text[at - 1]) === isWord(text[at]);
  }
}

const isWord = (point: string | undefined) => point !== undefined && /^\w$/.test(point);
