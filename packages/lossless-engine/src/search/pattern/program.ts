// Turns a pattern into a program that one walk over a text can run.
import { type Assertion, type CharSet, PatternError, type PatternNode } from "./parse.ts";

/** What may follow at a place of the program; behind the last one the pattern was found. */
export type Instruction =
  | { readonly kind: "set"; readonly set: CharSet }
  /** Goes on at each of these, counted from here. */
  | { readonly kind: "split"; readonly to: readonly number[] }
  | { readonly kind: "assertion"; readonly assertion: Assertion };

/** What a repetition of a repetition may come to. */
const MOST_INSTRUCTIONS = 5_000;

/**
 * The program of `pattern`; `isReversed`: of what it finds, read from its end. Throws a
 * PatternError for a pattern that is too large.
 */
export function programOf(pattern: PatternNode, isReversed = false): Instruction[] {
  const program: Instruction[] = [];
  compile(pattern, program, isReversed);
  return program;
}

/** Appends what matches `node`; control goes on behind it. */
function compile(node: PatternNode, program: Instruction[], isReversed: boolean): void {
  if (program.length > MOST_INSTRUCTIONS)
    throw new PatternError("it asks for too many repetitions of repetitions");
  switch (node.kind) {
    case "set":
    case "assertion":
      program.push(node);
      return;
    case "sequence":
      for (const part of isReversed ? node.parts.toReversed() : node.parts)
        compile(part, program, isReversed);
      return;
    case "choice": {
      const starts: number[] = [];
      const split = program.push({ kind: "split", to: starts }) - 1;
      const jumps: number[][] = [];
      for (const option of node.options) {
        starts.push(program.length - split);
        compile(option, program, isReversed);
        const jump: number[] = [];
        jumps.push(jump);
        jump.push(program.push({ kind: "split", to: jump }) - 1);
      }
      for (const jump of jumps) jump[0] = program.length - jump[0]!;
      return;
    }
    case "repeat":
      repeat(node, program, isReversed);
  }
}

function repeat(
  { part, least, most }: PatternNode & { kind: "repeat" },
  program: Instruction[],
  isReversed: boolean,
) {
  for (let time = 0; time < least; time++) compile(part, program, isReversed);
  if (most === Infinity) {
    const to: number[] = [1];
    const split = program.push({ kind: "split", to }) - 1;
    compile(part, program, isReversed);
    const back = program.length;
    program.push({ kind: "split", to: [split - back] });
    to.push(program.length - split);
    return;
  }
  const exits: { at: number; to: number[] }[] = [];
  for (let time = least; time < most; time++) {
    const to: number[] = [1];
    exits.push({ at: program.push({ kind: "split", to }) - 1, to });
    compile(part, program, isReversed);
  }
  for (const { at, to } of exits) to.push(program.length - at);
}
