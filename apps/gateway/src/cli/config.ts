// `clew config`: reads, writes and imports settings.
import { copyFile, readFile } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import JSON5 from "json5";
import { getSetting, setSetting, writeConfigText } from "../config/commands.ts";
import { configTable } from "../config/docs.ts";
import { readEnvironment } from "../config/environment.ts";
import { planImport } from "../config/import.ts";
import { checkConfigText, readConfigText } from "../config/load.ts";
import { configJsonSchema } from "../config/schema.ts";
import { fileNotFound } from "../file-not-found.ts";
import { terminal } from "../terminal/output.ts";

export async function configGet(
  name: string,
  { json = false }: { json?: boolean },
): Promise<number> {
  const { value } = await getSetting(readEnvironment().configFile, name);
  if (json || typeof value === "object") terminal.json(value);
  else terminal.line(String(value));
  return 0;
}

export async function configSet(name: string, text: string): Promise<number> {
  const { configFile } = readEnvironment();
  const { value, warnings } = await setSetting(configFile, name, text);
  for (const warning of warnings) terminal.note(`warning: ${warning}`);
  const shown = /key|token|secret|password|headers/i.test(name)
    ? "(hidden)"
    : JSON.stringify(value);
  terminal.line(
    `${name} = ${shown}   (${configFile}; a running gateway reads it at its next start)`,
  );
  return 0;
}

export async function configImport(
  file: string,
  { force = false, json = false }: { force?: boolean; json?: boolean },
): Promise<number> {
  const { configFile } = readEnvironment();
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw fileNotFound(file, error);
    throw new ContextEngineError(
      "CONFIG_INVALID",
      `${file} cannot be read: ${error.message}; name a configuration file.`,
      { cause: error },
    );
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
  if (json) terminal.json({ file: configFile, taken: plan.taken, ignored: plan.ignored });
  else {
    terminal.line(
      `Wrote ${configFile}: ${plan.taken.join(", ") || "nothing that Clew knows was in it"}.`,
    );
    for (const { path, reason } of plan.ignored) terminal.line(`  left out ${path}: ${reason}`);
  }
  return 0;
}

export async function configSchema(): Promise<number> {
  terminal.json(configJsonSchema());
  return 0;
}

export async function configReference(): Promise<number> {
  terminal.line(configTable());
  return 0;
}
