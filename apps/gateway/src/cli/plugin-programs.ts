// Runs a command that a plugin adds to the command line.
import type { Command } from "commander";
import { agentSettings, defaultAgentId } from "../config/agent.ts";
import { loadConfig } from "../config/load.ts";
import type { PluginHost } from "../plugins/host.ts";
import { invalidPlugin, messageOf } from "../plugins/invalid.ts";
import { asPlugin, runningPlugin } from "../plugins/load/running.ts";
import { createPluginLogger } from "../plugins/load/runtime.ts";
import type { OwnedProgram } from "../plugins/offer/free-offers.ts";
import { startPlugins } from "../plugins/start.ts";
import type { Shell } from "../terminal/shell.ts";
import { failedCommand, throwInsteadOfExit } from "./command-errors.ts";
import { describeUnknownCommand } from "./unknown-command.ts";

/**
 * To be asked only about words that are none of ours: plugins are loaded for it, in the mode in
 * which they register nothing but commands. Undefined: no plugin has such a command.
 */
export async function runPluginProgram(
  program: Command,
  argv: readonly string[],
  shell: Shell,
): Promise<number | undefined> {
  const { environment, output } = shell;
  // What a plugin lacks here, its inspection tells; a command says what it was asked.
  const log = { info: () => {}, warn: () => {}, error: output.note };
  const loaded = await loadConfig(environment.configFile).catch(() => undefined);
  if (loaded === undefined) return undefined;
  const plugins = await startPlugins({ environment, loaded, log, mode: "cli-metadata" });
  try {
    const found = plugins.offers().programs.find((each) => isMeant(each, argv));
    if (found === undefined) return undefined;
    const { config, raw } = loaded;
    const { workspace } = agentSettings(config, environment.home, defaultAgentId(config));
    const { pluginId } = found;
    return await asProgram(plugins, pluginId, async () => {
      const given = { config: raw, workspaceDir: workspace };
      await addProgram(program, found, { ...given, logger: createPluginLogger(log, pluginId) });
      const unknown = describeUnknownCommand(program, argv);
      if (unknown !== null) throw invalidPlugin(missing(found));
      await program.parseAsync(argv, { from: "user" });
      return Number(process.exitCode ?? 0);
    });
  } catch (error) {
    return failedCommand(error, shell);
  } finally {
    await plugins.close("the command is over");
  }
}

/** What runs as a command may end as one. */
function asProgram<Result>({ runAs }: PluginHost, pluginId: string, work: () => Result): Result {
  return runAs(pluginId, () => asPlugin({ ...runningPlugin()!, mayEndProcess: true }, work));
}

/** Pure. Whether the words begin one of its commands. */
function isMeant({ parentPath, names }: OwnedProgram, argv: readonly string[]): boolean {
  const words = argv.filter((word) => !word.startsWith("-"));
  return names.some((name) => [...parentPath, name].every((word, at) => words[at] === word));
}

async function addProgram(
  program: Command,
  { pluginId, parentPath, names, descriptions, registrar }: OwnedProgram,
  given: object,
): Promise<void> {
  const group = parentPath.reduce(
    (at, word) => at.commands.find((each) => each.name() === word) ?? at.command(word),
    program,
  );
  try {
    await registrar({ ...given, program: group, parentPath });
  } catch (error) {
    const what = [...parentPath, names[0]!].join(" ");
    throw invalidPlugin(
      `Plugin "${pluginId}" could not add its command "${what}": ${messageOf(error)}.`,
      error,
    );
  }
  for (const command of group.commands) {
    const description = descriptions.get(command.name());
    if (description !== undefined && command.description() === "") command.description(description);
    throwInsteadOfExit(command);
  }
}

const missing = ({ pluginId, parentPath, names }: OwnedProgram) =>
  `Plugin "${pluginId}" says that it has the command "${[...parentPath, names[0]!].join(" ")}", and did not add it.`;
