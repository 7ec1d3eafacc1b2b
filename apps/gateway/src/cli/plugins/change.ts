// Installs, updates, switches and removes plugins, and prints what was done.
import type { Environment } from "../../config/environment.ts";
import { effectNote } from "../../plugins/install/effect.ts";
import {
  type InstallPlace,
  type InstallRequest,
  installPlugin,
} from "../../plugins/install/install.ts";
import { rollbackPlugin } from "../../plugins/install/rollback.ts";
import { disablePlugin, enablePlugin } from "../../plugins/install/switch.ts";
import { uninstallPlugin } from "../../plugins/install/uninstall.ts";
import { updatePlugins } from "../../plugins/install/update.ts";
import type { Shell } from "../../terminal/shell.ts";
import { lookUpGateway } from "../operate/look-up.ts";
import { askWith } from "./agree.ts";
import { printLines } from "./print-lines.ts";

type Flags = Record<string, boolean | undefined>;

function placeOf({ home, configFile }: Environment): InstallPlace {
  return { home, configFile, cwd: process.cwd() };
}

export async function install(
  spec: string,
  { link, force, pin, yes, data, json }: Flags,
  { environment, output }: Shell,
): Promise<number> {
  const agree = yes ? undefined : askWith(output);
  const report = await installPlugin(
    { spec, link, force, pin, data, agree } satisfies InstallRequest,
    placeOf(environment),
  );
  const effect = await effectOfChange(environment);
  if (json) output.json({ ...report, effect });
  else
    printLines(output, [
      `Installed ${report.pluginId}${report.version === null ? "" : ` ${report.version}`}${link ? " as a link" : ""}.`,
      ...report.notes,
      effect,
    ]);
  return 0;
}

export async function enable(id: string, flags: Flags, shell: Shell): Promise<number> {
  const notes = await enablePlugin(id, placeOf(shell.environment));
  return printSwitched({ pluginId: id, enabled: true, notes }, flags, shell);
}

export async function disable(id: string, flags: Flags, shell: Shell): Promise<number> {
  const notes = await disablePlugin(id, placeOf(shell.environment));
  return printSwitched({ pluginId: id, enabled: false, notes }, flags, shell);
}

async function printSwitched(
  switched: { pluginId: string; enabled: boolean; notes: string[] },
  { json }: Flags,
  { environment, output }: Shell,
): Promise<number> {
  const { pluginId, enabled, notes } = switched;
  const effect = await effectOfChange(environment);
  if (json) output.json({ ...switched, effect });
  else printLines(output, [`${enabled ? "Enabled" : "Disabled"} ${pluginId}.`, ...notes, effect]);
  return 0;
}

export async function uninstall(
  ids: readonly string[],
  { dryRun, keepFiles, json }: Flags,
  { environment, output }: Shell,
): Promise<number> {
  const plugins: { pluginId: string; notes: string[] }[] = [];
  try {
    for (const id of ids) {
      const request = { pluginId: id, dryRun, keepFiles };
      const { pluginId, notes } = await uninstallPlugin(request, placeOf(environment));
      plugins.push({ pluginId, notes });
    }
  } finally {
    // What was removed before one that cannot be is told all the same.
    if (json) {
      const hasChanged = !dryRun && plugins.length > 0;
      const effect = hasChanged ? await effectOfChange(environment) : null;
      output.json({ plugins, dryRun: dryRun === true, effect });
    } else
      for (const { pluginId, notes } of plugins)
        printLines(output, [
          dryRun ? `Uninstalling ${pluginId} would do this:` : `Uninstalled ${pluginId}.`,
          ...notes.map((note) => `  ${note}`),
        ]);
  }
  if (!dryRun && !json) printLines(output, [await effectOfChange(environment)]);
  return 0;
}

export async function update(
  ids: readonly string[],
  { data, json }: Flags,
  { environment, output }: Shell,
): Promise<number> {
  const reports = await updatePlugins(ids, placeOf(environment), { data });
  const hasChanged = reports.some(({ changed }) => changed);
  const effect = hasChanged ? await effectOfChange(environment) : null;
  if (json) {
    output.json({ plugins: reports, effect });
    return 0;
  }
  printLines(
    output,
    reports.length === 0
      ? ["Nothing was installed by clew, so there is nothing to update."]
      : reports.map(({ note }) => note),
  );
  if (effect !== null) printLines(output, [effect]);
  return 0;
}

export async function rollback(
  pluginId: string,
  { data, json }: Flags,
  { environment, output }: Shell,
): Promise<number> {
  const report = await rollbackPlugin({ pluginId, withData: data !== false }, placeOf(environment));
  const effect = await effectOfChange(environment);
  if (json) output.json({ ...report, effect });
  else printLines(output, [...report.notes, effect]);
  return 0;
}

async function effectOfChange(environment: Environment): Promise<string> {
  return effectNote(await lookUpGateway(environment));
}
