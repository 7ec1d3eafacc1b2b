// Runs `clew config get`, `set`, `unset`, `import`, `schema` and `reference`.
import { copyFile, readFile } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import JSON5 from "json5";
import { changingConfig } from "../config/change.ts";
import {
  getSetting,
  maskSecrets,
  type SettingJudge,
  setSetting,
  unsetSetting,
  writeConfigText,
} from "../config/commands.ts";
import { configTable, settingRows } from "../config/docs.ts";
import { planImport, sectionsOf } from "../config/import.ts";
import { checkConfigText, readConfigText } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { configJsonSchema } from "../config/schema.ts";
import { isSecretName } from "../config/secret-names.ts";
import { fileNotFound } from "../file-not-found.ts";
import { storageFailed } from "../storage-error.ts";
import type { Shell } from "../terminal/shell.ts";

export async function configGet(
  name: string,
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { value } = await getSetting(environment.configFile, name);
  if (json || typeof value === "object") output.json(value);
  else output.line(String(value));
  return 0;
}

/** Names whose values are not shown; token counts and session keys are no secrets. */
const SECRET = /apiKey|token(?!s)|secret|password|headers|auth\.tokens/i;

const isHidden = (name: string, value: unknown): boolean => SECRET.test(name) || holdsSecret(value);

function holdsSecret(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsSecret);
  if (!isRecord(value)) return false;
  return Object.entries(value).some(([name, inner]) => isSecretName(name) || holdsSecret(inner));
}

export async function configSet(
  name: string,
  text: string,
  { json = false, force = false }: { json?: boolean; force?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { configFile } = environment;
  const judge = name.startsWith("plugins") ? await judgeByPlugins(environment) : undefined;
  const {
    value,
    warnings: told,
    config,
  } = await setSetting(configFile, name, text, {
    ...{ judge, force },
  });
  const warnings = [...told, ...(await newlyMistaken(name, config, environment))];
  for (const warning of warnings) output.note(`warning: ${warning}`);
  const shown = isHidden(name, value) ? "(hidden)" : maskSecrets(value);
  if (json) output.json({ name, value: shown, file: configFile, warnings });
  else
    output.line(
      `${name} = ${shown === "(hidden)" ? shown : JSON.stringify(shown)}   (${configFile}; ${whenRead(name)})`,
    );
  return 0;
}

/** Loaded only where a model, an engine or an agent may be named. */
async function newlyMistaken(
  name: string,
  config: Config,
  environment: Shell["environment"],
): Promise<string[]> {
  if (!/^(?:agents|models|plugins|door)\b/.test(name)) return [];
  const { mistakenNames } = await import("./mistaken-names.ts");
  return mistakenNames(config, environment);
}

/** Asks the plugins that are there, of which no code is run. */
async function judgeByPlugins({ home }: Shell["environment"]): Promise<SettingJudge> {
  const [{ discoverPlugins }, { judgeSettings }, { readRecords }, { bundledPlugins }] =
    await Promise.all([
      import("../plugins/find/discover.ts"),
      import("../plugins/load/plugin-config.ts"),
      import("../plugins/find/records.ts"),
      import("../plugins/find/bundled.ts"),
    ]);
  const records = readRecords(home);
  return ({ path, before, after }) => {
    const { plugins } = after;
    const found = discoverPlugins({ home, plugins, records, bundled: bundledPlugins() });
    const change = { path, before: before.plugins, after: plugins };
    for (const { result } of found) {
      const verdict = result.ok ? judgeSettings(result.files, change) : null;
      if (verdict !== null) return verdict;
    }
    return null;
  };
}

export async function configUnset(
  name: string,
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { configFile } = environment;
  const wasSet = await unsetSetting(configFile, name);
  if (json) output.json({ name, wasSet, file: configFile });
  else
    output.line(
      wasSet
        ? `${name} is removed   (${configFile}; ${whenRead(name)})`
        : `${name} was not set in ${configFile}, so nothing was changed.`,
    );
  return 0;
}

function whenRead(name: string): string {
  if (/^gateway\.costCaps(\.|$)/.test(name))
    return "a running gateway reads it before its next model call";
  const isOfPlugins = name === "plugins" || name.startsWith("plugins.");
  return `a running gateway reads it at its next start${isOfPlugins ? ", or by: clew plugins reload" : ""}`;
}

export async function configImport(
  file: string,
  { force = false, json = false }: { force?: boolean; json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { configFile } = environment;
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw fileNotFound(file, error);
    throw storageFailed(`${file} cannot be read`, error, "elsewhere");
  });
  await refuseToReplace(configFile, force);
  const plan = planImport(text, file);
  const { fitImport } = await import("./fit-import.ts");
  const fitted = fitImport(plan.config, environment);
  const ignored = [...plan.ignored, ...fitted.ignored];
  const imported = `// Imported from ${file.replaceAll(/[\r\n]/g, " ")}\n${JSON5.stringify(fitted.config, { space: 2, quote: '"' })}\n`;
  checkConfigText(imported, configFile);
  await changingConfig(configFile, async () => {
    const exists = await refuseToReplace(configFile, force);
    if (exists) await copyFile(configFile, `${configFile}.bak`);
    await writeConfigText(configFile, imported);
  });
  const taken = sectionsOf(fitted.config);
  if (json) output.json({ file: configFile, taken, ignored, added: fitted.added });
  else {
    output.line(`Wrote ${configFile}: ${taken.join(", ") || "it held no setting Clew knows"}.`);
    for (const { path, reason } of ignored) output.line(`  left out ${path}: ${reason}`);
    for (const text of fitted.added) output.line(`  ${text}`);
  }
  return 0;
}

/** Whether it is there. Throws REQUEST_INVALID for one that is not to be replaced. */
async function refuseToReplace(configFile: string, force: boolean): Promise<boolean> {
  const exists = (await readConfigText(configFile)) !== null;
  if (!exists || force) return exists;
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `${configFile} exists already; add --force to replace it (it is kept as ${configFile}.bak).`,
  );
}

export async function configSchema({ output }: Shell): Promise<number> {
  output.json(configJsonSchema());
  return 0;
}

export async function configReference(
  { json = false }: { json?: boolean },
  { output }: Shell,
): Promise<number> {
  if (json) output.json({ settings: settingRows() });
  else output.line(configTable());
  return 0;
}
