// Runs a plugin once before it is installed: what would fail in the gateway fails here, and nothing was changed yet.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LogPort, validateEngine } from "@clew/engine-core";
import type { ContextEngineFactory } from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import type { PluginFiles } from "../find/manifest.ts";
import { invalidPlugin, messageOf } from "../invalid.ts";
import { loadPlugin } from "../load/load-plugin.ts";
import type { Registrations } from "../load/registrations.ts";

export interface Trial {
  engines: string[];
  tools: string[];
  /** Worth knowing, no reason to refuse. */
  warnings: string[];
}

const ENGINE_MS = 30_000;
const silent: LogPort = { info: () => {}, warn: () => {}, error: () => {} };

/** The plugin's own files go to a folder that is thrown away. Throws PLUGIN_INVALID with everything that is wrong. */
export async function tryPlugin(
  files: PluginFiles,
  {
    raw,
    entryConfig,
  }: { raw: unknown; entryConfig: { config?: unknown; hooks?: unknown } | undefined },
): Promise<Trial> {
  const stateDir = mkdtempSync(join(tmpdir(), "clew-trial-"));
  const before = process.env.OPENCLAW_STATE_DIR;
  process.env.OPENCLAW_STATE_DIR = stateDir;
  const trial: Trial = {
    engines: [],
    tools: [...(files.manifest.contracts?.tools ?? [])],
    warnings: [],
  };
  try {
    for (const entry of files.entries) {
      const complete = () =>
        Promise.reject(new Error("There is no model while a plugin is being installed."));
      const context = {
        home: stateDir,
        mode: "full" as const,
        generation: 0,
        log: silent,
        config: () => raw,
        entryConfig,
        complete,
      };
      const result = await loadPlugin(files, entry, context);
      if (!result.ok) throw invalidPlugin(result.reason);
      const { engines, diagnostics } = result.registrations;
      const problems = [
        ...diagnostics.filter(({ level }) => level === "error").map(({ message }) => message),
        ...undeclaredTools(files, result.registrations),
      ];
      for (const { engineId, factory } of engines)
        problems.push(...(await tryEngine(engineId, factory)));
      if (problems.length > 0)
        throw invalidPlugin(`Plugin "${entry.pluginId}" breaks the rules: ${problems.join("; ")}.`);
      trial.engines.push(...engines.map(({ engineId }) => engineId));
      trial.warnings.push(...diagnostics.map(({ message }) => message));
    }
    return trial;
  } finally {
    if (before === undefined) delete process.env.OPENCLAW_STATE_DIR;
    else process.env.OPENCLAW_STATE_DIR = before;
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function tryEngine(engineId: string, factory: ContextEngineFactory): Promise<string[]> {
  const onTimeout = () => {
    throw new Error(`not made within ${ENGINE_MS / 1000} s`);
  };
  try {
    const product = await within<unknown>({ boundMs: ENGINE_MS, onTimeout }, () => factory({}));
    const validation = validateEngine(engineId, product);
    if (validation.ok) await validation.engine.dispose?.();
    return validation.ok ? [] : [validation.message.replace(/\.$/, "")];
  } catch (error) {
    return [`context engine "${engineId}" could not be made: ${messageOf(error)}`];
  }
}

/** A factory that did not say its names is asked for them. */
function undeclaredTools({ manifest }: PluginFiles, { tools }: Registrations): string[] {
  const declared = manifest.contracts?.tools ?? [];
  return tools.flatMap(({ names, make }) => {
    if (names !== undefined) return [];
    try {
      const made = make({ sessionId: "trial", sessionKey: "agent:main:trial" });
      const list = made === null || made === undefined ? [] : Array.isArray(made) ? made : [made];
      return list
        .filter(({ name }) => !declared.includes(name))
        .map(({ name }) => `plugin must declare contracts.tools for: ${name}`);
    } catch (error) {
      return [`a tool could not be made: ${messageOf(error)}`];
    }
  });
}
