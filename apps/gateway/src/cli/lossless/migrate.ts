// Runs `clew lossless migrate`, which carries what lossless-claw keeps.
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import type { MigrationPlace } from "@clew/lossless-engine/store";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import JSON5 from "json5";
import { loadConfig, readConfigText } from "../../config/load.ts";
import { fileNotFound } from "../../file-not-found.ts";
import { DEFAULT_AGENT_ID, isSafeId, parseSessionName } from "../../sessions/keys.ts";
import { agentFolder, agentPaths, fileOf } from "../../sessions/paths.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { databasesOf, losslessSettings } from "./databases.ts";
import { working } from "./working.ts";

interface MigrateCommandOptions {
  agent?: string;
  config?: string;
  sessions?: string;
  files?: string;
  /** False: summaries are left behind. */
  summaries?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

/**
 * Throws FILE_NOT_FOUND, REQUEST_INVALID where a path or an agent is wrong, STORAGE_FAILED where a
 * database cannot be used.
 */
export async function losslessMigrate(
  from: string,
  options: MigrateCommandOptions,
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const { agent, config, sessions, files, summaries = true, dryRun = false } = options;
  const databases = await databasesOf(environment, agent);
  const { compress } = await losslessSettings(environment);
  const settings = await settingsOf(config ?? environment.configFile, config !== undefined);
  const placeOf = (sessionKey: string): MigrationPlace | undefined => {
    const id = agent ?? parseSessionName(sessionKey)?.agentId ?? DEFAULT_AGENT_ID;
    const file = databases.find(({ agents }) => agents.includes(id))?.file;
    if (file === undefined) return undefined;
    const folder = sessions === undefined ? agentPaths(home, id).sessions : resolve(sessions);
    const sessionFile = (sessionId: string) =>
      isSafeId(sessionId) ? fileOf(folder, sessionId) : undefined;
    return { file, agentDir: agentFolder(home, id), sessionFile, compress };
  };
  const { migrateLosslessClaw } = await import("@clew/lossless-engine/store");
  const { text, ...migration } = await working(output, (operating) =>
    migrateLosslessClaw({
      ...{
        ...operating,
        from: resolve(from),
        scratch: tmpdir(),
        placeOf,
        settings,
        summaries,
        dryRun,
      },
      ...(files !== undefined && { filesFolder: resolve(files) }),
    }),
  );
  if (options.json) output.json(migration);
  else output.line(printable(text));
  return 0;
}

/** What a configuration says of lossless-claw; nothing where it says nothing. */
async function settingsOf(
  file: string,
  isNamed: boolean,
): Promise<Readonly<Record<string, unknown>>> {
  const entries = isNamed
    ? entriesIn(await foreignConfig(file))
    : (await loadConfig(file)).config.plugins.entries;
  return (
    (entries?.["lossless-claw"] as { config?: Record<string, unknown> } | undefined)?.config ?? {}
  );
}

const entriesIn = (config: unknown): Record<string, unknown> | undefined =>
  (config as { plugins?: { entries?: Record<string, unknown> } } | null)?.plugins?.entries;

async function foreignConfig(file: string): Promise<unknown> {
  const text = await readConfigText(resolve(file));
  if (text === null) throw fileNotFound(file);
  try {
    return JSON5.parse(text);
  } catch (error) {
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `${resolve(file)} is no JSON5; name the configuration that lossless-claw ran with.`,
      { cause: error },
    );
  }
}
