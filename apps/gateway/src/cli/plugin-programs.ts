// Runs a command that a plugin adds to the command line.
import { join } from "node:path";
import { ContextEngineError, isAbort } from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { type Command, CommanderError } from "commander";
import { agentSettings, defaultAgentId } from "../config/agent.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import type { Places } from "../config/places.ts";
import { silentLog } from "../log/silent.ts";
import { bundledPlugins } from "../plugins/find/bundled.ts";
import { discoverPlugins, type FoundPlugin } from "../plugins/find/discover.ts";
import { MANIFEST_FILE } from "../plugins/find/manifest.ts";
import { pluginsFolder, readRecords, recordsFile } from "../plugins/find/records.ts";
import type { PluginHost } from "../plugins/host.ts";
import { invalidPlugin, messageOf } from "../plugins/invalid.ts";
import { asPlugin, runningPlugin } from "../plugins/load/running.ts";
import { createPluginLogger } from "../plugins/load/runtime.ts";
import type { OwnedProgram } from "../plugins/offer/free-offers.ts";
import { safeModeFile } from "../plugins/safe-mode.ts";
import { startPlugins } from "../plugins/start.ts";
import { keepStack } from "../terminal/failure.ts";
import type { Shell } from "../terminal/shell.ts";
import { failedCommand } from "./command-errors.ts";
import { describeCommands, keepCommands, type PluginCommand, stampsOf } from "./plugin-commands.ts";
import { throwInsteadOfExit } from "./usage-error.ts";

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
  const files = stampsOf(filesOf(environment, loaded));
  const plugins = await startPlugins({ environment, loaded, log, mode: "cli-metadata" });
  await keepCommands(environment, files, commandsOf(plugins));
  try {
    const found = plugins.offers().programs.find((each) => isMeant(each, argv));
    if (found === undefined) return undefined;
    const { config, raw } = loaded;
    const { workspace } = agentSettings(config, environment.home, defaultAgentId(config));
    const { pluginId } = found;
    return await asProgram(plugins, pluginId, async () => {
      const given = { config: raw, workspaceDir: workspace };
      await addProgram(program, found, { ...given, logger: createPluginLogger(log, pluginId) });
      if (!isThere(program, found, argv)) throw invalidPlugin(missing(found));
      await program.parseAsync(argv, { from: "user" }).catch((error: unknown) => {
        throw ofPlugin(found, error, shell);
      });
      return Number(process.exitCode ?? 0);
    });
  } catch (error) {
    return failedCommand(error, shell);
  } finally {
    await plugins.close("the command is over");
  }
}

/** A line each, under a title; "": no plugin has a command, or the settings cannot be read. */
export async function listPluginPrograms({ environment }: Shell): Promise<string> {
  const log = silentLog;
  const loaded = await loadConfig(environment.configFile).catch(() => undefined);
  if (loaded === undefined) return "";
  const files = stampsOf(filesOf(environment, loaded));
  const plugins = await startPlugins({ environment, loaded, log, mode: "cli-metadata" });
  const commands = commandsOf(plugins);
  await plugins.close("the help is over");
  await keepCommands(environment, files, commands);
  return describeCommands(commands);
}

const commandsOf = (plugins: PluginHost): PluginCommand[] =>
  plugins.offers().programs.flatMap(({ pluginId, parentPath, names, descriptions }) =>
    names.map((name) => ({
      pluginId,
      words: [...parentPath, name].join(" "),
      description: descriptions.get(name) ?? "",
    })),
  );

/** What decides which commands plugins have, as far as files do. */
function filesOf({ home, configFile }: Places, { config }: LoadedConfig): string[] {
  const { plugins } = config;
  const folder = pluginsFolder(home);
  const own = foundIn(home, plugins).flatMap(({ folder, result }) => [
    ...[folder, join(folder, MANIFEST_FILE), join(folder, "package.json")],
    ...(result.ok ? result.files.entries.map(({ file }) => file) : []),
  ]);
  return [configFile, safeModeFile(home), folder, recordsFile(home), ...own];
}

function foundIn(home: string, plugins: PluginsConfig): FoundPlugin[] {
  try {
    const records = readRecords(home);
    return discoverPlugins({ home, plugins, records, bundled: bundledPlugins() });
  } catch {
    // Until the file of records changes, there is no plugin.
    return [];
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

/** Whether the word that was typed is one now; what stands below it the program knows itself. */
function isThere(program: Command, found: OwnedProgram, argv: readonly string[]): boolean {
  const words = argv.filter((word) => !word.startsWith("-"));
  const path = words.slice(0, found.parentPath.length + 1);
  return path.reduce<Command | undefined>((at, word) => commandIn(at, word), program) !== undefined;
}

const commandIn = (group: Command | undefined, word: string): Command | undefined =>
  group?.commands.find((each) => each.name() === word || each.aliases().includes(word));

/** What it threw is the plugin's fault, not ours; the log of the home has its stack. */
function ofPlugin({ pluginId }: OwnedProgram, error: unknown, { environment }: Shell): unknown {
  if (error instanceof CommanderError || isAbort(error)) return error;
  const where = keepStack(error, environment.home);
  const text = `Plugin "${pluginId}": ${messageOf(error)}${where === null ? "" : ` (${where} says where)`}`;
  return ContextEngineError.is(error)
    ? new ContextEngineError(error.code, `Plugin "${pluginId}": ${error.message}`, { cause: error })
    : invalidPlugin(text, error);
}

const missing = ({ pluginId, parentPath, names }: OwnedProgram) =>
  `Plugin "${pluginId}" says that it has the command "${[...parentPath, names[0]!].join(" ")}", and did not add it.`;
