// Runs the command that a command line asks for.
import { readSafeMode } from "../plugins/safe-mode.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { printable, terminal } from "../terminal/output.ts";
import { beginProgressLine } from "../terminal/progress-line.ts";
import type { Shell } from "../terminal/shell.ts";
import { failedCommand } from "./command-errors.ts";
import { refuseFlagAsValue } from "./flag-as-value.ts";
import { listsAllCommands } from "./help.ts";
import { refuseWithoutFiles } from "./needs-files.ts";
import { outputAsCalled, ownCommand } from "./own-command.ts";
import { processShell } from "./process-shell.ts";
import { createProgram } from "./program.ts";
import { readSessionNames } from "./typed-names.ts";
import { describeUnknownCommand } from "./unknown-command.ts";
import { nameOf } from "./usage-error.ts";

/** `given`: default, that of the process. */
export async function runCli(
  argv: readonly string[],
  given: Shell = processShell(),
): Promise<number> {
  let exitCode = 0;
  let showsStored = false;
  const called = ownCommand(import.meta.dirname, given.environment);
  const output = outputAsCalled(given.output, called, () => showsStored);
  const shell = { ...given, output };
  const program = createProgram(shell, (code) => {
    exitCode = code;
  });
  if (describeUnknownCommand(program, argv) !== null) {
    const { runPluginProgram } = await import("./plugin-programs.ts");
    const code = await runPluginProgram(program, argv, shell);
    const off = Object.keys(readSafeMode(shell.environment.home).plugins);
    if (code === undefined)
      shell.output.note(printable(describeUnknownCommand(program, argv, off) ?? ""));
    return code ?? EXIT.usage;
  }
  if (listsAllCommands(argv)) {
    const { listPluginPrograms } = await import("./plugin-programs.ts");
    program.addHelpText("after", await listPluginPrograms(shell));
  }
  let endProgress = () => {};
  program.hook("preAction", async (_program, command) => {
    await refuseWithoutFiles(nameOf(command), shell.environment);
    await readSessionNames(command, shell.environment);
    showsStored = SHOWS_STORED.has(nameOf(command));
    if (given.output === terminal && !HOLDS_TERMINAL.has(nameOf(command)))
      endProgress = beginProgressLine(nameOf(command), EXIT.cancelled);
  });
  try {
    refuseFlagAsValue(program, argv);
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    return failedCommand(error, shell);
  } finally {
    endProgress();
  }
}

/** What these print was said or set by others. */
const SHOWS_STORED: ReadonlySet<string> = new Set([
  ...["clew sessions show", "clew sessions search", "clew sessions tail", "clew sessions export"],
  ...["clew inspect", "clew logs", "clew config get", "clew chat", "clew completion"],
  ...["clew complete-words"],
]);

/** What these show or ask goes on for long, or is not for people. */
const HOLDS_TERMINAL: ReadonlySet<string> = new Set([
  ...["clew chat", "clew start", "clew init", "clew emulate", "clew logs", "clew sessions tail"],
  ...["clew acp", "clew mcp", "clew complete-words"],
]);
