// Reads the commands of `clew`, and writes the gateway README's table of them.
import { readFileSync } from "node:fs";
import { isVisible } from "../apps/gateway/src/cli/completion/plan-completion.ts";
import { createProgram } from "../apps/gateway/src/cli/program.ts";
import { readEnvironment } from "../apps/gateway/src/config/environment.ts";
import { terminal } from "../apps/gateway/src/terminal/output.ts";

export interface CliCommand {
  /** What a person types after `clew`: "sessions list". */
  name: string;
  /** Arguments and options: "<file> [--dry-run] [--json]". */
  usage: string;
  description: string;
}

/** Every command that does something, groups left out, in the order of `--help`. */
export function cliCommands(): CliCommand[] {
  const program = createProgram({ environment: readEnvironment(), output: terminal }, () => {});
  return visible(program).flatMap((command) => leavesOf(command, ""));
}

/** The README with its table of commands rewritten. */
export function commandsReadme(): { path: string; text: string } {
  const path = "apps/gateway/README.md";
  const rows = cliCommands().map(
    ({ name, usage, description }) =>
      `| \`${[name, usage].filter(Boolean).join(" ").replaceAll("|", "\\|")}\` | ${description.replaceAll("|", "\\|")} |`,
  );
  const table = ["| command | what it does |", "| --- | --- |", ...rows].join("\n");
  const text = readFileSync(path, "utf8").replace(
    /(<!-- commands: [^>]*-->\n).*?(\n<!-- end of commands -->)/s,
    (_, start: string, end: string) => `${start}${table}${end}`,
  );
  return { path, text };
}

type Command = ReturnType<typeof createProgram>;

const visible = (command: Command): readonly Command[] =>
  command.commands.filter((each) => isVisible(command, each));

function leavesOf(command: Command, parent: string): CliCommand[] {
  const name = parent === "" ? command.name() : `${parent} ${command.name()}`;
  if (command.commands.length > 0)
    return visible(command).flatMap((child) => leavesOf(child, name));
  const values = command.registeredArguments.map((argument) => {
    const shown = argument.variadic ? `${argument.name()}…` : argument.name();
    return argument.required ? `<${shown}>` : `[${shown}]`;
  });
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, mandatory }) => (mandatory ? flags : `[${flags}]`));
  return [{ name, usage: [...values, ...options].join(" "), description: command.description() }];
}
