// Decides whether a command line begins a talk at a terminal.
import { terminalVariables } from "../../config/terminal-variables.ts";

const WITH_VALUE = /^(?:-s|--session|--model|--engine|--when-busy)$/;
const WITH_ITS_VALUE = /^(?:-s.+|--(?:session|model|engine|when-busy)=.*)$/s;

/** Pure. `argv`: behind the program. False for whatever it does not know. */
export function isTalk(argv: readonly string[]): boolean {
  const [command, ...rest] = argv;
  if (command !== "chat") return false;
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index]!;
    if (WITH_ITS_VALUE.test(word)) continue;
    if (!WITH_VALUE.test(word) || index === rest.length - 1) return false;
    index++;
  }
  return true;
}

/** A terminal that can be painted on, and somebody who reads it. */
export const canPaint = (): boolean =>
  process.stdin.isTTY === true &&
  process.stdout.isTTY === true &&
  terminalVariables().kind !== "dumb";
