// Answers a question for help or the version, without loading what commands are made of.
import { readPlaces } from "../config/places.ts";
import { type Output, terminal } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { describeCommands, keptCommands } from "./plugin-commands.ts";
import { createProgram } from "./program.ts";
import { describeUnknownCommand } from "./unknown-command.ts";

/** An exit code; null = the words ask for something else, or a plugin has to answer. */
export async function answerHelp(
  argv: readonly string[],
  output: Output = terminal,
): Promise<number | null> {
  if (!asksForHelp(argv)) return null;
  const program = createProgram(helpShell(output), () => {});
  const words = argv[0] === "help" ? argv.slice(1) : argv;
  if (describeUnknownCommand(program, words) !== null) return null;
  if (listsAllCommands(argv)) {
    const commands = keptCommands(readPlaces());
    if (commands === undefined) return null;
    program.addHelpText("after", describeCommands(commands));
  }
  return program.parseAsync(argv, { from: "user" }).then(
    () => 0,
    ({ exitCode }: { exitCode: number }) => exitCode,
  );
}

/** Pure. Whether it asks for the help that also plugins' commands belong to. */
export const listsAllCommands = (argv: readonly string[]): boolean =>
  argv.length === 1 && ["--help", "-h", "help"].includes(argv[0]!);

/** Pure. False for whatever it does not know. */
export function asksForHelp(argv: readonly string[]): boolean {
  if (argv.length === 1 && /^(?:--version|-V)$/.test(argv[0]!)) return true;
  const words = argv[0] === "help" ? argv.slice(1) : argv.slice(0, -1);
  const isAsked = argv[0] === "help" || /^(?:--help|-h)$/.test(argv.at(-1) ?? "");
  return isAsked && words.every((word) => !word.startsWith("-"));
}

/** Help runs no command, so nothing asks for what is in the environment. */
const helpShell = (output: Output): Shell => ({
  output,
  get environment(): never {
    throw new Error("help has no environment");
  },
});
