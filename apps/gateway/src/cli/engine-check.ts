// Runs `clew engine check`, the conformance kit on an engine.
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ContextEngineError, type ContextEngineFactory } from "@clew/plugin-sdk/core";
import { type ConformanceReport, checkEngine } from "@clew/plugin-sdk/testing";
import { composeHost } from "../compose.ts";
import { defaultAgentId } from "../config/agent.ts";
import type { LoadedConfig } from "../config/load.ts";
import { fileNotFound } from "../file-not-found.ts";
import { findDefinition } from "../plugins/load/entry.ts";
import { startPlugins } from "../plugins/start.ts";
import { type Output, printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { formatTable } from "../terminal/table.ts";
import { type Setup, setUp } from "./setup.ts";

/**
 * `target`: a registered id, a plugin's folder, or a module; default: the engine that answers now.
 * Exit code 1 when a case fails.
 */
export async function engineCheck(
  target: string | undefined,
  { json = false }: { json?: boolean },
  shell: Shell,
): Promise<number> {
  const setup = await setUp(shell, {}, { showProblems: !json });
  const { output } = setup;
  const home = await mkdtemp(join(tmpdir(), "clew-engine-check-"));
  try {
    const isPath =
      target !== undefined &&
      (target.includes("/") || (await stat(resolve(target)).catch(() => null)) !== null);
    const engines = isPath
      ? await enginesAt(resolve(target), setup, home)
      : await enginesOf(setup, home, target);
    // The kit tells of them, as of a fault of the engine.
    shell.strayErrors?.onHostError(() => {});
    const reports: { engineId: string; report: ConformanceReport }[] = [];
    for (const { engineId, factory } of engines) {
      const report = await checkEngine(({ agentDir }) =>
        factory({ config: setup.loaded.raw, agentDir, workspaceDir: agentDir }),
      );
      reports.push({ engineId, report });
    }
    if (json)
      output.json({ engines: reports.map(({ engineId, report }) => ({ engineId, ...report })) });
    else for (const { engineId, report } of reports) showReport(output, engineId, report);
    return reports.some(({ report }) => report.failed > 0) ? 1 : 0;
  } finally {
    setup.log.close();
    await rm(home, { recursive: true, force: true });
  }
}

interface CheckedEngine {
  engineId: string;
  factory: ContextEngineFactory;
}

/**
 * What a host with this configuration registers; its engines keep what they store in
 * `home`, never in the person's.
 */
async function enginesOf(
  { environment, loaded, log }: Setup,
  home: string,
  wanted: string | undefined,
): Promise<CheckedEngine[]> {
  const plugins = await startPlugins({ environment, stateDir: home, loaded, log });
  const host = composeHost({ environment: { ...environment, home }, loaded, log, plugins });
  const engineId = wanted ?? (await host.inspectEngine(defaultAgentId(loaded.config))).engineId;
  const factory = host.engineFactory(engineId);
  if (factory !== undefined) return [{ engineId, factory }];
  throw new ContextEngineError(
    "ENGINE_NOT_FOUND",
    `There is no context engine "${engineId}"; known: ${host.engineIds().join(", ")}. To check one that is not installed, name its folder.`,
  );
}

/** A module's engine, or all engines of a plugin in a folder. */
async function enginesAt(path: string, setup: Setup, home: string): Promise<CheckedEngine[]> {
  const found = await stat(path).catch(() => null);
  if (found === null) throw fileNotFound(path);
  const engines = found.isDirectory()
    ? await enginesOfPlugin(path, setup, home)
    : await enginesOfModule(path);
  if (engines.length > 0) return engines;
  throw new ContextEngineError(
    "ENGINE_NOT_FOUND",
    `${path} registers no context engine; it must call api.registerContextEngine(id, factory).`,
  );
}

async function enginesOfPlugin(
  folder: string,
  { environment, loaded, log }: Setup,
  home: string,
): Promise<CheckedEngine[]> {
  const alone = withOnlyPlugin(loaded, folder);
  const plugins = await startPlugins({ environment: { home }, loaded: alone, log });
  const failed = plugins.records().find(({ status }) => status === "error");
  if (failed !== undefined)
    throw new ContextEngineError(
      "PLUGIN_INVALID",
      failed.reason ?? `The plugin in ${folder} cannot be loaded.`,
    );
  const host = composeHost({ environment: { ...environment, home }, loaded: alone, log, plugins });
  return host.engineIds().flatMap((engineId) => {
    const factory =
      plugins.ownerOf(engineId) === undefined ? undefined : host.engineFactory(engineId);
    return factory === undefined ? [] : [{ engineId, factory }];
  });
}

/** The plugin's own settings stay; no other is loaded, and no slot has to be right. */
function withOnlyPlugin(
  { config, raw }: LoadedConfig,
  folder: string,
): Pick<LoadedConfig, "config" | "raw"> {
  const plugins = {
    ...(config.plugins.entries !== undefined && { entries: config.plugins.entries }),
    load: { paths: [folder] },
  };
  return { config: { ...config, plugins }, raw: { ...raw, plugins } };
}

async function enginesOfModule(file: string): Promise<CheckedEngine[]> {
  const exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  if (typeof exported.createEngine === "function")
    return [{ engineId: file, factory: exported.createEngine as ContextEngineFactory }];
  const engines: CheckedEngine[] = [];
  const registerContextEngine = (engineId: string, factory: ContextEngineFactory) =>
    void engines.push({ engineId, factory });
  // Whatever else a plugin registers is of no interest here.
  const api = new Proxy(
    { registerContextEngine },
    { get: (known, name) => Reflect.get(known, name) ?? (() => undefined) },
  );
  findDefinition(exported, { pluginId: file, manifestId: idOf(exported) ?? file }).register(api);
  return engines;
}

function idOf({ default: entry }: Record<string, unknown>): string | undefined {
  const id = typeof entry === "object" && entry !== null && "id" in entry ? entry.id : undefined;
  return typeof id === "string" ? id.trim() : undefined;
}

function showReport(
  output: Output,
  engineId: string,
  { engine, results, passed, failed, notApplicable }: ConformanceReport,
): void {
  const named =
    engine === null
      ? "it could not be created"
      : `${engine.name}${engine.version === undefined ? "" : ` ${engine.version}`}`;
  const rows = results.map(({ id, outcome, title, reason }) => [
    outcome === "failed" ? "FAILED" : outcome,
    id,
    printable((reason ?? title).replaceAll("\n", " ")),
  ]);
  output.line(formatTable(["outcome", "case", "rule, or why"], rows));
  output.line(
    `${engineId} (${printable(named)}): ${passed} passed, ${failed} failed, ${notApplicable} not applicable.`,
  );
}
