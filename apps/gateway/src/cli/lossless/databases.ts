// Which database files the lossless engine keeps, and whose they are.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { modelChains } from "../../config/agent.ts";
import type { Environment } from "../../config/environment.ts";
import { type LoadedConfig, loadConfig } from "../../config/load.ts";
import { losslessFile, losslessStoreSettings } from "../../config/lossless-file.ts";
import { agentFolder } from "../../sessions/paths.ts";

/** A database file, whether or not it is there. Agents may share one. */
export interface Database {
  readonly file: string;
  readonly agents: readonly string[];
}

/** Of one agent, or of all. Throws REQUEST_INVALID where there is no such agent. */
export async function databasesOf(
  { configFile, home }: Environment,
  agent: string | undefined,
): Promise<readonly Database[]> {
  const { config } = await loadConfig(configFile);
  const known = modelChains(config, home).map((chain) => chain.agent);
  if (agent !== undefined && !known.includes(agent))
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `There is no agent "${agent}"; there is ${known.join(", ")}.`,
    );
  const files = byFile(config, home, known);
  return agent === undefined ? files : files.filter(({ agents }) => agents.includes(agent));
}

/** The one that something is put into. Throws REQUEST_INVALID where nobody said which. */
export async function oneDatabase(
  environment: Environment,
  agent: string | undefined,
): Promise<Database> {
  const [database, ...others] = await databasesOf(environment, agent);
  if (database === undefined || others.length > 0)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `Several agents have a database each (${[database, ...others].flatMap((each) => each?.agents ?? []).join(", ")}); say by --agent which is meant.`,
    );
  return database;
}

/** What of the engine's settings a command has to know. */
export async function losslessSettings({ configFile }: Environment): Promise<LosslessSettings> {
  const { config } = await loadConfig(configFile);
  const { keepDays, keepMegabytes, keepNewest } = settingsIn(config);
  const numberOr = (value: unknown) => (typeof value === "number" ? value : undefined);
  return {
    compress: losslessStoreSettings(config).compress,
    keepDays: numberOr(keepDays),
    keepMegabytes: numberOr(keepMegabytes),
    keepNewest: numberOr(keepNewest),
  };
}

/** What to say where another engine answers. Null: the lossless engine does. */
export async function otherEngine({ configFile }: Environment): Promise<string | null> {
  const { plugins } = (await loadConfig(configFile)).config;
  const engine = plugins.slots?.contextEngine ?? "legacy";
  if (engine === "lossless" && plugins.entries?.lossless?.enabled !== false) return null;
  const who = engine === "lossless" ? "it is switched off" : `"${engine}" answers instead`;
  return `The lossless engine is not in use, as ${who}: nothing that is said now is stored there, and no model sees what is; clew plugins enable lossless changes that.`;
}

/** Whose sessions its files have where these are in a database. Null: all that the home has. */
export async function onlyOpenedHere({ configFile }: Environment): Promise<string | null> {
  const { storage } = (await loadConfig(configFile)).config;
  return storage.driver === "files"
    ? null
    : 'Sessions are in PostgreSQL, and a store of this home has those that its gateway has opened; it is made again from the database, and "clew storage copy --to FOLDER" makes one of all sessions (then CLEW_HOME=FOLDER).';
}

interface LosslessSettings {
  readonly compress: boolean;
  /** Undefined: not set, as of the others. */
  readonly keepDays: number | undefined;
  readonly keepMegabytes: number | undefined;
  readonly keepNewest: number | undefined;
}

const settingsIn = (
  config: LoadedConfig["config"],
): { readonly [Key in keyof LosslessSettings]?: unknown } =>
  config.plugins.entries?.lossless?.config ?? {};

function byFile(
  config: LoadedConfig["config"],
  home: string,
  agents: readonly string[],
): readonly Database[] {
  const { databasePath } = losslessStoreSettings(config);
  const files = new Map<string, string[]>();
  for (const agent of agents) {
    const folder = agentFolder(home, agent);
    const file = losslessFile(folder, databasePath);
    files.set(file, [...(files.get(file) ?? []), agent]);
  }
  return [...files].map(([file, owners]) => ({ file, agents: owners }));
}
