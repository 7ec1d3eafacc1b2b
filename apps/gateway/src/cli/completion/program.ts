// The command `clew completion`, and the one by which its scripts ask.
import { Argument, type Command, Option } from "commander";
import type { Shell } from "../../terminal/shell.ts";
import { planCompletion } from "./plan-completion.ts";
import { SCRIPTS, SHELLS, type ShellName } from "./scripts.ts";

/** `done` receives a command's exit code. */
export function addCompletion(
  program: Command,
  shell: Shell,
  done: (exitCode: number) => void,
): void {
  program
    .command("completion")
    .description("print what a shell needs to complete commands, flags, sessions, models and more")
    .addArgument(
      new Argument("<shell>", "yours; the first line says where it goes").choices(SHELLS),
    )
    .addOption(new Option("--json", "print JSON"))
    .action((name: ShellName, { json }) => {
      if (json) shell.output.json({ shell: name, script: SCRIPTS[name] });
      else shell.output.write(SCRIPTS[name]);
      done(0);
    });
  program
    .command("complete-words", { hidden: true })
    .description("print the words that may follow, for the scripts of completion")
    .argument("[words...]", "behind --: what is typed, the last word begun or empty")
    .action(async (words: string[]) => {
      const { printWords } = await import("./words.ts");
      done(await printWords(planCompletion(program, words), words.at(-1) ?? "", shell));
    });
}
