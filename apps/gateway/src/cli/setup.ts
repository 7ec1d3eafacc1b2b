// Reads the environment and configuration and opens the log for most commands.
import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { withValueAt } from "../config/path.ts";
import { ConfigSchema } from "../config/schema.ts";
import { createLog, type GatewayLog } from "../log/log.ts";
import type { Shell } from "../terminal/shell.ts";

export interface Setup extends Shell {
  loaded: LoadedConfig;
  log: GatewayLog;
}

/** What flags may replace for one run. */
export interface Overrides {
  model?: string | undefined;
  engine?: string | undefined;
  contextWindow?: number | undefined;
  port?: number | undefined;
}

/** Throws CONFIG_INVALID. `showProblems`: warnings and errors of the log go to stderr too. */
export async function setUp(
  { environment, output }: Shell,
  overrides: Overrides,
  { showProblems }: { showProblems: boolean },
): Promise<Setup> {
  const loaded = await loadConfig(environment.configFile);
  for (const warning of loaded.warnings) output.note(`warning: ${loaded.file}: ${warning}`);
  const log = createLog({
    file: join(environment.home, "logs", "gateway.log"),
    ...(showProblems && {
      onProblem: (level, message) =>
        output.note(`${level === "warn" ? "warning" : "error"}: ${message}`),
    }),
  });
  return { environment, loaded: { ...loaded, ...applyOverrides(loaded, overrides) }, log, output };
}

/** The configuration as it is now, under the same flags: for a reload while running. */
export function rereader(
  environment: Environment,
  overrides: Overrides,
): () => Promise<Pick<LoadedConfig, "raw" | "config">> {
  return async () => applyOverrides(await loadConfig(environment.configFile), overrides);
}

/** Pure. The configuration as if the file said what the flags say. */
export function applyOverrides(
  { raw, config }: Pick<LoadedConfig, "raw" | "config">,
  overrides: Overrides,
): Pick<LoadedConfig, "raw" | "config"> {
  const settings: [(string | number)[], unknown][] = [
    [["agents", "defaults", "model"], overrides.model],
    [["plugins", "slots", "contextEngine"], overrides.engine],
    [["agents", "defaults", "contextTokens"], overrides.contextWindow],
    [["gateway", "port"], overrides.port],
  ];
  const given = settings.filter(([, value]) => value !== undefined);
  if (given.length === 0) return { raw, config };
  const changed = given.reduce<unknown>(
    (value, [path, setting]) => withValueAt(value, path, setting),
    raw,
  ) as Record<string, unknown>;
  return { raw: changed, config: ConfigSchema.parse(changed) };
}
