// Makes the shell of this process, which also catches the errors that nobody else did.
import { ownFolder, readEnvironment } from "../config/environment.ts";
import { guardProcess } from "../plugins/contain/guard-process.ts";
import { allowWatching } from "../plugins/contain/watch-process.ts";
import { catchStrayErrors, noteStray } from "../plugins/stray-errors.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { describeFailure } from "../terminal/failure.ts";
import { terminal } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { asCalled, ownCommand } from "./own-command.ts";

/** To be made once. A command that does not say otherwise ends with an error of Clew's own. */
export function processShell(): Shell {
  goToCaller();
  const environment = readEnvironment();
  const strayErrors = catchStrayErrors((error) => {
    const command = ownCommand(import.meta.dirname, environment);
    terminal.note(asCalled(`clew: ${describeFailure(error, environment)}`, command));
    process.exit(EXIT.failed);
  });
  allowWatching(EXIT.blocked);
  guardProcess((error, plugin) => noteStray(plugin, "exception", error));
  return { environment, output: terminal, strayErrors };
}

/** A folder that is gone by now leaves the command where it is. */
function goToCaller(): void {
  try {
    process.chdir(ownFolder());
  } catch {
    // What cannot be found from here is said when it is looked for.
  }
}
