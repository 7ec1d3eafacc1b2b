// Runs `clew engine check`, the conformance kit on an engine.
import { mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { composeHost } from "../../compose.ts";
import { defaultAgentId } from "../../config/agent.ts";
import { fileNotFound } from "../../file-not-found.ts";
import { runKit } from "../../plugins/check/run-kit.ts";
import { bundledIds } from "../../plugins/find/bundled.ts";
import { readPluginFiles } from "../../plugins/find/manifest.ts";
import { startPlugins } from "../../plugins/start.ts";
import { printable } from "../../terminal/output.ts";
import { progressLine } from "../../terminal/progress-line.ts";
import type { Shell } from "../../terminal/shell.ts";
import { didYouMean } from "../../text/nearest.ts";
import { type Setup, setUp } from "../setup.ts";

/** The kit's own, as its command takes them. */
export interface EngineCheckOptions {
  json?: boolean;
  bail?: boolean;
  engine?: string;
  case?: readonly string[];
  sessions?: string;
  seed?: string;
  salt?: string;
  timeout?: string;
  replay?: string;
}

/**
 * `target`: a registered id, a plugin's folder, or a module; default: the engine that answers now.
 * Gives what the kit's command gives: its report, and exit code 1 when a case fails.
 */
export async function engineCheck(
  target: string | undefined,
  options: EngineCheckOptions,
  shell: Shell,
): Promise<number> {
  const setup = await setUp(shell, {}, { showProblems: options.json !== true });
  const { output } = setup;
  const home = await mkdtemp(join(tmpdir(), "clew-engine-check-"));
  try {
    const isPath =
      target !== undefined &&
      (target.includes("/") || (await stat(resolve(target)).catch(() => null)) !== null);
    const checked = isPath ? await engineAt(resolve(target)) : await engineOf(setup, home, target);
    const { code, report, said } = await runKit({
      ...{ root: checked.root, home: await realpath(home) },
      args: [checked.file, ...(await settingsArgs(checked, home)), ...kitArgs(checked, options)],
      onProgress: (line) => progressLine()?.says(line),
    });
    const [last, ...before] = said.toReversed();
    for (const line of code === 2 ? before.toReversed() : said) output.note(printable(line));
    if (code === 2) throw new ContextEngineError("ENGINE_NOT_FOUND", last ?? "The kit ended.");
    output.write(report);
    return code;
  } finally {
    setup.log.close();
    await rm(home, { recursive: true, force: true });
  }
}

interface Checked {
  /** What the kit's command is to load: a module or a plugin's folder. */
  file: string;
  /** Whose modules are loaded as a plugin's. */
  root: string;
  /** Absent: the only one. */
  engineId?: string;
  /** Of the plugin; absent: none. */
  settings?: unknown;
}

/** As in `npx @clew/plugin-sdk check`: nothing of this installation has a part in it. */
async function engineAt(path: string): Promise<Checked> {
  const found = await stat(path).catch(() => null);
  if (found === null) throw fileNotFound(path);
  return { file: path, root: await realpath(found.isDirectory() ? path : dirname(path)) };
}

/** What a host with this configuration registers; its engines keep nothing in the person's home. */
async function engineOf(
  { environment, loaded, log }: Setup,
  home: string,
  wanted: string | undefined,
): Promise<Checked> {
  const plugins = await startPlugins({ environment, stateDir: home, loaded, log });
  const host = composeHost({ environment: { ...environment, home }, loaded, log, plugins });
  const engineId = wanted ?? (await host.inspectEngine(defaultAgentId(loaded.config))).engineId;
  if (host.engineFactory(engineId) === undefined)
    throw new ContextEngineError(
      "ENGINE_NOT_FOUND",
      `There is no context engine "${engineId}"; known: ${host.engineIds().join(", ")}.${didYouMean(engineId, [...host.engineIds(), ...bundledIds()])} To check one that is not installed, name its folder.`,
    );
  const owner = plugins.ownerOf(engineId);
  const record = plugins.records().find(({ id }) => id === owner);
  if (record === undefined) {
    const file = createRequire(import.meta.url).resolve("#checked-legacy");
    return { file, root: home };
  }
  const { root, manifest, entries } = readPluginFiles(record.folder);
  const { file } = entries.find(({ pluginId }) => pluginId === record.id) ?? entries[0]!;
  return { file, root, engineId, settings: loaded.config.plugins.entries?.[manifest.id]?.config };
}

async function settingsArgs({ settings }: Checked, home: string): Promise<string[]> {
  if (settings === undefined) return [];
  const file = join(home, "settings.json");
  await writeFile(file, JSON.stringify(settings), { mode: 0o600 });
  return ["--settings", file];
}

/** Pure. */
function kitArgs({ engineId }: Checked, options: EngineCheckOptions): string[] {
  const { json, bail, case: cases = [], engine = engineId, ...others } = options;
  const values = { engine, ...others, ...(others.replay && { replay: resolve(others.replay) }) };
  return [
    ...(json ? ["--json"] : []),
    ...(bail ? ["--bail"] : []),
    ...cases.flatMap((one) => ["--case", one]),
    ...Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, value],
    ),
  ];
}
