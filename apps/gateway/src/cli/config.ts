// The settings of sessions, `session`.
import { copyFile, readFile } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import JSON5 from "json5";
import {
  getSetting,
  type SettingJudge,
  setSetting,
  unsetSetting,
  writeConfigText,
} from "../config/commands.ts";
import { configTable } from "../config/docs.ts";
import { planImport } from "../config/import.ts";
import { checkConfigText, readConfigText } from "../config/load.ts";
import { configJsonSchema } from "../config/schema.ts";
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
const SECRET = /apiKey|token(?!s)|secret|password|headers/i;

export async function configSet(
  name: string,
  text: string,
  { environment, output }: Shell,
): Promise<number> {
  const { configFile } = environment;
  const judge = name.startsWith("plugins") ? await judgeByPlugins(environment) : undefined;
  const { value, warnings } = await setSetting(configFile, name, text, judge);
  for (const warning of warnings) output.note(`warning: ${warning}`);
  const shown = SECRET.test(name) ? "(hidden)" : JSON.stringify(value);
  output.line(`${name} = ${shown}   (${configFile}; ${whenRead(name)})`);
  return 0;
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

export async function configUnset(name: string, { environment, output }: Shell): Promise<number> {
  const { configFile } = environment;
  const wasSet = await unsetSetting(configFile, name);
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
    throw storageFailed(`${file} cannot be read`, error);
  });
  const exists = (await readConfigText(configFile)) !== null;
  if (exists && !force) {
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `${configFile} exists already; add --force to replace it (it is kept as ${configFile}.bak).`,
    );
  }
  const plan = planImport(text, file);
  const imported = `// Imported from ${file.replaceAll(/[\r\n]/g, " ")}\n${JSON5.stringify(plan.config, { space: 2, quote: '"' })}\n`;
  checkConfigText(imported, configFile);
  if (exists) await copyFile(configFile, `${configFile}.bak`);
  await writeConfigText(configFile, imported);
  if (json) output.json({ file: configFile, taken: plan.taken, ignored: plan.ignored });
  else {
    output.line(
      `Wrote ${configFile}: ${plan.taken.join(", ") || "it held no setting Clew knows"}.`,
    );
    for (const { path, reason } of plan.ignored) output.line(`  left out ${path}: ${reason}`);
  }
  return 0;
}

export async function configSchema({ output }: Shell): Promise<number> {
  output.json(configJsonSchema());
  return 0;
}

export async function configReference({ output }: Shell): Promise<number> {
  output.line(configTable());
  return 0;
}
