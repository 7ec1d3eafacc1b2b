// Prints which plugins there are, and which of them are on.
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { loadConfig } from "../../config/load.ts";
import { bundledPlugins } from "../../plugins/find/bundled.ts";
import { discoverPlugins, type FoundPlugin } from "../../plugins/find/discover.ts";
import { slotValue, whyOff } from "../../plugins/find/enablement.ts";
import type { PluginFiles } from "../../plugins/find/manifest.ts";
import { type InstallRecords, readRecords } from "../../plugins/find/records.ts";
import { messageOf } from "../../plugins/invalid.ts";
import { kindsOf } from "../../plugins/load/hook-rules.ts";
import { checkPluginConfig } from "../../plugins/load/plugin-config.ts";
import { describeSafeMode, readSafeMode, type SafeMode } from "../../plugins/safe-mode.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { formatTable } from "../../terminal/table.ts";
import { printLines } from "./print-lines.ts";
import { isOf, recordsOfGateway } from "./records-of-gateway.ts";

type Flags = Record<string, boolean | undefined>;

export async function list({ json }: Flags, { environment, output }: Shell): Promise<number> {
  const { home, configFile } = environment;
  const { plugins, agents } = (await loadConfig(configFile)).config;
  const records = readRecords(home);
  const selected = [
    ...Object.values(plugins.slots ?? {}),
    ...agents.list.map(({ engine }) => engine),
  ].map(String);
  const found = discoverPlugins({ home, plugins, records, bundled: bundledPlugins() }).map(
    (plugin) =>
      listed(plugin, { plugins, records, selected, safeMode: readSafeMode(home).plugins }),
  );
  const inGateway = await recordsOfGateway(environment);
  const warnings: string[] = [];
  for (const plugin of found) {
    if (plugin.status !== "on") continue;
    for (const { id, status, reason, diagnostics } of inGateway) {
      if (!isOf(id, plugin.id)) continue;
      if (status === "error")
        Object.assign(plugin, { status: "broken", reason: reason ?? "broken" });
      warnings.push(...diagnostics.map(({ message }) => `${id}: ${message}`));
    }
  }
  if (json) output.json({ plugins: found });
  else {
    const rows = found.map(({ id, version, status, origin, folder }) => [
      ...[id, version ?? "-", status, `${origin}: ${folder}`],
    ]);
    output.line(printable(formatTable(["plugin", "version", "state", "from"], rows)));
    printLines(output, [
      ...found.flatMap(({ id, reason }) => (reason === null ? [] : [`${id}: ${reason}`])),
      ...warnings,
    ]);
  }
  return 0;
}

/** What the list says of a plugin that nobody loaded. */
function listed(
  { id, folder, origin, result }: FoundPlugin,
  {
    plugins,
    records,
    selected,
    safeMode,
  }: {
    plugins: PluginsConfig;
    records: InstallRecords;
    /** Ids of engines and plugins that slots and agents name. */
    selected: readonly string[];
    safeMode: SafeMode["plugins"];
  },
) {
  const isSelected = selected.some((value) => value === id || records.engines[value] === id);
  const manifest = result.ok ? result.files.manifest : { id };
  const blocked = safeMode[id];
  const off = whyOff({
    ...{ plugins, manifest, isSelected },
    isBundled: origin === "bundled",
    safeMode: blocked && describeSafeMode(id, blocked),
  });
  const version = result.ok
    ? (result.files.packageJson.version ?? result.files.manifest.version ?? null)
    : null;
  const broken = result.ok ? whyRefused(result.files, plugins) : result.reason;
  const status = off !== null ? "off" : broken === null ? "on" : "broken";
  const slot = slotValue(plugins, "memory");
  const kinds = result.ok ? kindsOf(result.files.manifest.kind) : [];
  const isIdleMemory = kinds.includes("memory") && slot !== id;
  const idle = isIdleMemory
    ? `its memory is not used: plugins.slots.memory ${slot === null ? "names none" : `is "${slot}"`}`
    : null;
  const reason = off ?? broken ?? idle;
  return {
    ...{ id, version, status, reason, origin, folder },
    source: records.plugins[id]?.spec ?? null,
  };
}

/** Null: its settings are as its manifest wants them. */
function whyRefused({ manifest, entries }: PluginFiles, plugins: PluginsConfig): string | null {
  const settings = plugins.entries ?? {};
  try {
    for (const { pluginId } of entries)
      checkPluginConfig(manifest, (settings[pluginId] ?? settings[manifest.id])?.config);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
