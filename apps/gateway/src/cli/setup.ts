// Reads the environment and configuration and opens the log for most commands.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { PROVIDERS } from "@clew/plugin-sdk/host";
import type { Environment } from "../config/environment.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { type ConfigProblem, parseConfig } from "../config/parse.ts";
import { withValueAt } from "../config/path.ts";
import { secretsIn } from "../config/secret-names.ts";
import { createLog, type GatewayLog, logFile } from "../log/log.ts";
import type { Shell } from "../terminal/shell.ts";
import { nearestOf } from "../text/nearest.ts";
import { tellMissingOnce } from "./missing-engine.ts";

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

/**
 * Throws CONFIG_INVALID, REQUEST_INVALID. `showProblems`: warnings and errors of the log go to
 * stderr too. `showsTurns`: what a turn tells by itself is shown anyway, and not told twice.
 * `logOf`: the home whose log is written, where it is another one; null: what is played has none.
 */
export async function setUp(
  shell: Shell,
  overrides: Overrides,
  {
    showProblems,
    showsTurns = false,
    logOf = shell.environment.home,
  }: { showProblems: boolean; showsTurns?: boolean; logOf?: string | null },
): Promise<Setup> {
  const { environment, output } = shell;
  const loaded = await loadConfig(environment.configFile);
  for (const warning of loaded.warnings) output.note(`warning: ${loaded.file}: ${warning}`);
  const { level, maxFileBytes, keepFiles, keepDays } = loaded.config.logging;
  const log = createLog({
    ...(logOf !== null && { file: logFile(logOf) }),
    rotation: { maxBytes: maxFileBytes, keep: keepFiles, keepDays },
    level,
    secrets: secretsIn(loaded.raw, environment),
    ...(showProblems && {
      onProblem: tellMissingOnce((level, message, fields) => {
        if (showsTurns && fields.isNotice === true) return;
        output.note(`${level === "warn" ? "warning" : "error"}: ${message}`);
      }),
    }),
  });
  return { ...shell, loaded: { ...loaded, ...applyOverrides(loaded, overrides) }, log };
}

/** The configuration as it is now, under the same flags: for a reload while running. */
export function rereader(
  environment: Environment,
  overrides: Overrides,
): () => Promise<Pick<LoadedConfig, "raw" | "config">> {
  return async () => applyOverrides(await loadConfig(environment.configFile), overrides);
}

interface FlagSetting {
  flag: string;
  path: readonly string[];
  value: string | number | undefined;
}

/** Pure. The configuration as if the file said what the flags say. Throws REQUEST_INVALID. */
export function applyOverrides(
  { raw, config }: Pick<LoadedConfig, "raw" | "config">,
  overrides: Overrides,
): Pick<LoadedConfig, "raw" | "config"> {
  const settings: FlagSetting[] = [
    { flag: "--model", path: ["agents", "defaults", "model"], value: overrides.model },
    { flag: "--engine", path: ["plugins", "slots", "contextEngine"], value: overrides.engine },
    {
      flag: "--context-window",
      path: ["agents", "defaults", "contextTokens"],
      value: overrides.contextWindow,
    },
    { flag: "--port", path: ["gateway", "port"], value: overrides.port },
  ];
  const given = settings.filter(({ value }) => value !== undefined);
  if (given.length === 0) return { raw, config };
  const changed = given.reduce<unknown>(
    (all, { path, value }) => withValueAt(all, path, value),
    raw,
  ) as Record<string, unknown>;
  const parsed = parseConfig(changed);
  if (parsed.ok) return { raw: changed, config: parsed.config };
  // The file alone was right.
  throw new ContextEngineError("REQUEST_INVALID", describeFlag(given, parsed.problems[0]));
}

function describeFlag(given: readonly FlagSetting[], { path, message }: ConfigProblem): string {
  const wrong = given.find((setting) => setting.path.every((part, index) => path[index] === part));
  const { flag, value } = wrong ?? given[0]!;
  const providers = PROVIDERS.map(({ id }) => id);
  const near = flag === "--model" ? nearestOf(String(value), providers) : null;
  const guess = near === null ? "." : `; did you mean "${near}/<model>"?`;
  return `${flag} ${JSON.stringify(value)} ${message}${guess}`;
}
