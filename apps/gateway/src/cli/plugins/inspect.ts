// Prints what a plugin says about itself, and what it registers.
import { loadConfig } from "../../config/load.ts";
import { strayFindings } from "../../doctor/plugin-findings.ts";
import { silentLog } from "../../log/silent.ts";
import { bundledPlugins } from "../../plugins/find/bundled.ts";
import { discoverPlugins } from "../../plugins/find/discover.ts";
import { type PluginFiles, readPluginFiles } from "../../plugins/find/manifest.ts";
import { readRecords } from "../../plugins/find/records.ts";
import { pluginNotFound } from "../../plugins/invalid.ts";
import type { PluginRecord } from "../../plugins/load/record.ts";
import { startPlugins } from "../../plugins/start.ts";
import type { Shell } from "../../terminal/shell.ts";
import { describeRecord } from "./describe-record.ts";
import { printLines } from "./print-lines.ts";
import { isOf, recordsOfGateway } from "./records-of-gateway.ts";

type Flags = Record<string, boolean | undefined>;

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
  printLines(output, [
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

async function loadForLooking(
  environment: { home: string },
  loaded: Awaited<ReturnType<typeof loadConfig>>,
  id: string,
): Promise<readonly PluginRecord[]> {
  const plugins = await startPlugins({ environment, loaded, log: silentLog, mode: "discovery" });
  await plugins.close("inspection is done");
  return plugins.records().filter((record) => isOf(record.id, id));
}

function readQuietly(folder: string) {
  try {
    return readPluginFiles(folder, { checkHost: false });
  } catch {
    return undefined;
  }
}
