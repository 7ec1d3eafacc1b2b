// What each `clew plugins` command does and prints.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import type { Environment } from "../../config/environment.ts";
import { loadConfig } from "../../config/load.ts";
import { pluginsAtHand } from "../../doctor/check-slots.ts";
import type { Finding } from "../../doctor/finding.ts";
import { pluginFindings, strayFindings } from "../../doctor/plugin-findings.ts";
import { describeMissing } from "../../gateway-client.ts";
import { bundledPlugins } from "../../plugins/find/bundled.ts";
import { discoverPlugins, type FoundPlugin } from "../../plugins/find/discover.ts";
import { slotValue, whyOff } from "../../plugins/find/enablement.ts";
import { recallRecords } from "../../plugins/find/engine-memory.ts";
import { type PluginFiles, readPluginFiles } from "../../plugins/find/manifest.ts";
import { type InstallRecords, readRecords } from "../../plugins/find/records.ts";
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
import { messageOf, pluginNotFound } from "../../plugins/invalid.ts";
import { kindsOf } from "../../plugins/load/hook-rules.ts";
import { checkPluginConfig } from "../../plugins/load/plugin-config.ts";
import type { PluginRecord } from "../../plugins/load/record.ts";
import { describeSafeMode, readSafeMode, type SafeMode } from "../../plugins/safe-mode.ts";
import { startPlugins } from "../../plugins/start.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { type Output, printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { formatTable } from "../../terminal/table.ts";
import { lookUpGateway } from "../operate/look-up.ts";
import { askWith } from "./agree.ts";

type Flags = Record<string, boolean | undefined>;

const RELOAD_MS = 10 * 60_000;
/** A list that nobody answers is made of what the files say. */
const LIST_MS = 5000;

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
    print(output, [
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
  else print(output, [`${enabled ? "Enabled" : "Disabled"} ${pluginId}.`, ...notes, effect]);
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
        print(output, [
          dryRun ? `Uninstalling ${pluginId} would do this:` : `Uninstalled ${pluginId}.`,
          ...notes.map((note) => `  ${note}`),
        ]);
  }
  if (!dryRun && !json) print(output, [await effectOfChange(environment)]);
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
  print(
    output,
    reports.length === 0
      ? ["Nothing was installed by clew, so there is nothing to update."]
      : reports.map(({ note }) => note),
  );
  if (effect !== null) print(output, [effect]);
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
  else print(output, [...report.notes, effect]);
  return 0;
}

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
      if (id !== plugin.id && !id.startsWith(`${plugin.id}/`)) continue;
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
    print(output, [
      ...found.flatMap(({ id, reason }) => (reason === null ? [] : [`${id}: ${reason}`])),
      ...warnings,
    ]);
  }
  return 0;
}

/** What the running gateway knows of its plugins; empty where none runs. */
async function recordsOfGateway(environment: Environment): Promise<readonly PluginRecord[]> {
  const lookup = await lookUpGateway(environment);
  if (lookup.kind !== "running") return [];
  const answer = await lookup.gateway
    .request("/api/plugins", { timeoutMs: LIST_MS })
    .catch(() => undefined);
  const { plugins = [] } = (answer?.body ?? {}) as { plugins?: PluginRecord[] };
  return plugins;
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

export async function inspect(
  id: string,
  { runtime, json }: Flags,
  { environment, output }: Shell,
): Promise<number> {
  const loaded = await loadConfig(environment.configFile);
  const found = discoverPlugins({
    home: environment.home,
    plugins: loaded.config.plugins,
    records: readRecords(environment.home),
    bundled: bundledPlugins(),
  });
  const plugin = found.find((each) => each.id === id);
  if (plugin === undefined)
    throw pluginNotFound(
      id,
      found.map((each) => each.id),
    );
  const problem = plugin.result.ok ? null : plugin.result.reason;
  const files = plugin.result.ok ? plugin.result.files : readQuietly(plugin.folder);
  const install = readRecords(environment.home).plugins[id] ?? null;
  const records = runtime ? await loadForLooking(environment, loaded, id) : undefined;
  const noted = runtime
    ? (await recordsOfGateway(environment)).filter((record) => isOf(record.id, id))
    : [];
  const about = {
    id,
    folder: plugin.folder,
    origin: plugin.origin,
    problem,
    install,
    manifest: files?.manifest ?? null,
    version: files?.packageJson.version ?? files?.manifest.version ?? null,
    entries: files?.entries ?? [],
    ...(records && { runtime: records, inGateway: noted.map(notedOf) }),
  };
  if (json) {
    output.json(about);
    return problem === null ? 0 : 1;
  }
  const { manifest } = about;
  print(output, [
    titleOf(id, files),
    ...(manifest?.description === undefined ? [] : [manifest.description]),
    `Folder: ${plugin.folder} (${plugin.origin}${install === null ? "" : `, installed from ${install.spec}`})`,
    ...(problem === null ? [] : [`Problem: ${problem}`]),
    `Kind: ${[manifest?.kind ?? "none"].flat().join(", ")}`,
    `May register tools: ${manifest?.contracts?.tools?.join(", ") || "none"}; session actions: ${manifest?.contracts?.sessionActions?.join(", ") || "none"}`,
    ...(records === undefined
      ? [`"clew plugins inspect ${id} --runtime" loads it and shows what it registers.`]
      : records.flatMap(describeRecord)),
    ...noted.flatMap((record) =>
      strayFindings(record).map(({ text }) => `${record.id}: in the running gateway: ${text}`),
    ),
  ]);
  return problem === null && !(records ?? []).some(({ status }) => status === "error") ? 0 : 1;
}

const isOf = (id: string, plugin: string) => id === plugin || id.startsWith(`${plugin}/`);

/** What a running gateway noted of it. */
const notedOf = ({ id, strays, refused, changed }: PluginRecord) => ({
  ...{ id, strays, refused, changed },
});

/** An installed plugin's version is its package's, which the manifest may have missed. */
function titleOf(id: string, files: PluginFiles | undefined): string {
  const said = files?.manifest.version;
  const version = files?.packageJson.version ?? said;
  const other = said === undefined || said === version ? "" : `; its manifest says ${said}`;
  const name = files?.manifest.name ?? id;
  return `${name}${version === undefined ? "" : ` ${version}`} (${id}${other})`;
}

export async function doctor({ json }: Flags, { environment, output }: Shell): Promise<number> {
  const loaded = await loadConfig(environment.configFile);
  const plugins = await startPlugins({ environment, loaded, log: silent, mode: "discovery" });
  const { home } = environment;
  const settings = loaded.config.plugins;
  const records = recallRecords(home, silent);
  const atHand = pluginsAtHand({ home, plugins: settings, records, bundled: bundledPlugins() });
  const findings: Finding[] = pluginFindings(plugins.records(), settings, {
    ownerOf: plugins.ownerOf,
    atHand: atHand.map(({ id }) => ({ id, off: null })),
  });
  await plugins.close("doctor is done");
  if (json) output.json({ findings });
  else
    print(
      output,
      findings.length === 0
        ? ["No plugins."]
        : findings.map(({ level, subject, text }) => `${level.padEnd(7)}  ${subject}: ${text}`),
    );
  return findings.some(({ level }) => level === "failure") ? 1 : 0;
}

export async function reload({ json }: Flags, { environment, output }: Shell): Promise<number> {
  const lookup = await lookUpGateway(environment);
  if (lookup.kind !== "running")
    throw unreachable(
      `Nothing was reloaded: ${describeMissing(lookup)}; plugins are loaded when one starts.`,
    );
  const { url, request } = lookup.gateway;
  const answer = await request("/api/plugins/reload", { method: "POST", timeoutMs: RELOAD_MS });
  const body = answer?.body as
    | { plugins?: PluginRecord[]; error?: { code: string; message: string } }
    | undefined;
  if (body?.plugins === undefined) {
    const { error } = body ?? {};
    if (error === undefined)
      throw unreachable(
        `Nobody knows whether the plugins were reloaded: ${url} did not answer in time; see its log.`,
      );
    output.note(`clew: Nothing was reloaded: ${error.message} [${error.code}]`);
    return EXIT.failed;
  }
  if (json) output.json(body);
  else print(output, [`Reloaded at ${url}.`, ...body.plugins.flatMap(describeRecord)]);
  return body.plugins.some(({ status }) => status === "error") ? 1 : 0;
}

const unreachable = (message: string) => new ContextEngineError("GATEWAY_UNREACHABLE", message);

const silent = { info: () => {}, warn: () => {}, error: () => {} };

async function loadForLooking(
  environment: { home: string },
  loaded: Awaited<ReturnType<typeof loadConfig>>,
  id: string,
): Promise<readonly PluginRecord[]> {
  const plugins = await startPlugins({ environment, loaded, log: silent, mode: "discovery" });
  await plugins.close("inspection is done");
  return plugins.records().filter((record) => isOf(record.id, id));
}

function describeRecord(record: PluginRecord): string[] {
  const { id, status, reason, diagnostics } = record;
  if (status !== "loaded") return [`${id}: ${status}: ${reason}`];
  const parts = [
    ["engines", record.engines],
    // A gateway of an earlier version does not tell of them.
    ["tools", record.registeredTools ?? []],
    ["commands", record.commands.map((word) => `/${word}`)],
    ["hooks", record.hooks],
    ["session actions", record.sessionActions],
    ["skills", record.skills],
    ["services", record.services],
    ["programs", record.programs.map((words) => `clew ${words}`)],
    ["HTTP routes", record.routes],
    ["methods", record.methods],
  ] as const;
  const has = [
    ...parts
      .filter(([, list]) => list.length > 0)
      .map(([name, list]) => `${name} ${list.join(", ")}`),
    ...(record.memory ? ["a memory"] : []),
  ];
  return [
    `${id}: loaded${has.length > 0 ? `; ${has.join("; ")}` : ""}`,
    ...diagnostics.map(({ level, message }) => `${id}: ${level}: ${message}`),
  ];
}

function readQuietly(folder: string) {
  try {
    return readPluginFiles(folder, { checkHost: false });
  } catch {
    return undefined;
  }
}

async function effectOfChange(environment: Environment): Promise<string> {
  return effectNote(await lookUpGateway(environment));
}

function print(output: Output, lines: readonly string[]): void {
  for (const line of lines) output.line(printable(line));
}
