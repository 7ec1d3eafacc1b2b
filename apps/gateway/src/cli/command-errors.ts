// What becomes of a command that throws.
import { type Command, CommanderError } from "commander";
import { EXIT, exitCodeOf } from "../terminal/exit-codes.ts";
import { describeFailure } from "../terminal/failure.ts";
import type { Shell } from "../terminal/shell.ts";

/** The exit code of a command that threw, once it is said why. */
export function failedCommand(error: unknown, { output, environment }: Shell): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  output.note(`clew: ${describeFailure(error, environment)}`);
  return exitCodeOf(error);
}

/** The process is the caller's to end. */
export function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const below of command.commands) throwInsteadOfExit(below);
}
