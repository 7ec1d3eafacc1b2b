// Loads one plugin and returns what it registered, or why none of it is used.

import type { LogPort } from "@clew/engine-core";
import type {
  LlmCompleteParams,
  LlmCompleteResult,
  PluginRuntime,
  RegistrationMode,
} from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import type { PluginFiles } from "../find/manifest.ts";
import { invalidPlugin, messageOf } from "../invalid.ts";
import type { Strays } from "../strays.ts";
import { createPluginApi } from "./api.ts";
import { findDefinition } from "./entry.ts";
import { locateErrorsIn, messageAndPlace, placeOfError } from "./error-place.ts";
import { groupDiagnostics } from "./group-diagnostics.ts";
import { exposeSdkTo, lastModuleOf, moduleUrl } from "./module-hooks.ts";
import { nativeImport } from "./native-import.ts";
import { dataFolder } from "./own-home.ts";
import { checkPluginConfig } from "./plugin-config.ts";
import { noRegistrations, type Registrations } from "./registrations.ts";
import { asPlugin, whileLoading } from "./running.ts";
import { createPluginLogger, createPluginRuntime } from "./runtime.ts";
import type { SessionTranscripts } from "./session-transcripts.ts";
import { createPluginSubagents, type SubagentsPort } from "./subagents.ts";
import { syntaxPlace } from "./syntax-place.ts";

/** A module that never finishes evaluating must not hold up the start. */
const IMPORT_MS = 30_000;

export interface LoadContext {
  home: string;
  mode: RegistrationMode;
  /** Counts reloads: a module already in memory is loaded again under a new generation. */
  generation: number;
  log: LogPort;
  /** The whole configuration now. */
  config: () => unknown;
  /** `plugins.entries.<id>`. */
  entryConfig: { config?: unknown; hooks?: unknown; ownHome?: boolean | undefined } | undefined;
  complete: (pluginId: string, params: LlmCompleteParams) => Promise<LlmCompleteResult>;
  strays: Strays;
  /** What plugins may read of sessions. Absent: nothing. */
  transcripts?: SessionTranscripts;
  /** Tools that plugins offer as their own. Absent: none are made here. */
  tools?: PluginRuntime["tools"];
  /** Undefined: no gateway runs here, or not yet. Absent: none ever will. */
  subagents?: () => SubagentsPort | undefined;
  /** True once these plugins were loaded again, or told to stop. Absent: they are not. */
  isRetired?: () => boolean;
}

export type LoadResult = { ok: true; registrations: Registrations } | { ok: false; reason: string };

/**
 * `register` may run more than once in a process: reloads and inspections run it again. Never
 * throws for what a plugin did.
 */
export async function loadPlugin(
  files: PluginFiles,
  entry: PluginFiles["entries"][number],
  context: LoadContext,
): Promise<LoadResult> {
  const { strays, generation, transcripts } = context;
  const lacking = new Set<string>();
  try {
    const pluginConfig = checkPluginConfig(files.manifest, context.entryConfig?.config);
    const lacks = (what: string) => void lacking.add(what);
    const { id } = files.manifest;
    const isOwn = context.entryConfig?.ownHome !== false;
    const ownHome = isOwn ? dataFolder(context.home, id) : undefined;
    locateErrorsIn(files.root);
    exposeSdkTo(files.root, { pluginId: id, strays, transcripts, lacks, ownHome });
    const url = moduleUrl(entry.file, generation);
    const plugin = { pluginId: entry.pluginId, strays, transcripts };
    const exported = await whileLoading(entry.pluginId, () =>
      asPlugin(plugin, () => importWithin(url, entry, files.root)),
    );
    const registrations = asPlugin(plugin, () =>
      register(files, entry, pluginConfig, exported, context),
    );
    for (const what of lacking)
      registrations.diagnostics.push({
        level: "warning",
        message: `it imports ${what}, which this host does not offer; what needs it will fail`,
      });
    const diagnostics = groupDiagnostics(registrations.diagnostics);
    return { ok: true, registrations: { ...registrations, diagnostics } };
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}

function register(
  files: PluginFiles,
  { pluginId, file }: PluginFiles["entries"][number],
  pluginConfig: unknown,
  exported: unknown,
  context: LoadContext,
): Registrations {
  const { manifest, root } = files;
  const { mode, home, config, log } = context;
  const definition = findDefinition(exported, { pluginId, manifestId: manifest.id });
  const into = noRegistrations();
  const logger = createPluginLogger(log, pluginId);
  const complete = (params: LlmCompleteParams) => context.complete(pluginId, params);
  let isRegistering = true;
  const subagent = createPluginSubagents({
    ...{ pluginId: manifest.id, mode, logger },
    port: () => (isRegistering ? undefined : context.subagents?.()),
    isRetired: () => context.isRetired?.() ?? false,
  });
  const runtime = createPluginRuntime({
    ...{ pluginId, home, mode, config, complete, logger, subagent, tools: context.tools },
  });
  const hookPermissions = context.entryConfig?.hooks;
  const { api, close } = createPluginApi({
    ...{
      pluginId,
      manifest,
      source: file,
      root,
      mode,
      pluginConfig,
      logger,
      runtime,
      hookPermissions,
      into,
    },
    config: config(),
  });
  try {
    const returned = definition.register(api);
    if (isThenable(returned)) {
      // Its outcome is nobody's any more; unheard it would end the process.
      returned.then(undefined, () => {});
      throw invalidPlugin(
        `Plugin "${pluginId}" cannot be loaded: plugin register must be synchronous.`,
      );
    }
    return into;
  } catch (error) {
    throw isOurs(error)
      ? error
      : invalidPlugin(failedIn(pluginId, "failed in register", error), error);
  } finally {
    isRegistering = false;
    close();
  }
}

function failedIn(pluginId: string, how: string, error: unknown, place?: string): string {
  const message = messageAndPlace(error).replace(/[.\s]+$/, "");
  return `Plugin "${pluginId}" ${how}: ${message}${place === undefined ? "" : `, at ${place}`}.`;
}

const isOurs = (error: unknown) => (error as { code?: unknown } | null)?.code === "PLUGIN_INVALID";

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { then?: unknown }).then === "function"
  );
}

async function importWithin(
  url: string,
  { pluginId, file }: PluginFiles["entries"][number],
  root: string,
): Promise<unknown> {
  const onTimeout = () => {
    throw invalidPlugin(
      `Plugin "${pluginId}" did not finish loading within ${IMPORT_MS / 1000} s.`,
    );
  };
  try {
    return await within<unknown>({ boundMs: IMPORT_MS, onTimeout }, () => nativeImport(url));
  } catch (error) {
    if (isOurs(error)) throw error;
    const isUnplaced = error instanceof SyntaxError && placeOfError(error) === undefined;
    // What is no JavaScript is the module that was read last.
    const place = isUnplaced ? await syntaxPlace(lastModuleOf(root) ?? file, root) : undefined;
    throw invalidPlugin(failedIn(pluginId, "cannot be loaded", error, place), error);
  }
}
