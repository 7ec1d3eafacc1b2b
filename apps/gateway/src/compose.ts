// Joins the packages and the gateway's own files into the ports of a turn.
import type { HostSession } from "@clew/engine-core";
import { createLegacyEngine, createSummariserRest } from "@clew/legacy-engine";
import { createTranscriptPolicy } from "@clew/transcript-policy";
import { createHarnesses, harnessLoaders } from "./harness/harnesses.ts";
import { createHost } from "./host/create-host.ts";
import { createEngines } from "./host/engines.ts";
import { flushPlanOf, runFlushTurn, whyNotWritable } from "./host/flush-turn.ts";
import type { Host, HostOptions } from "./host/host.ts";
import { agentOf, type HostParts } from "./host/parts.ts";
import { completeForPlugins } from "./host/plugin-llm.ts";
import { installedImageCodec } from "./models/image-codec.ts";
import { createModelRests } from "./models/model-rests.ts";
import { createModelWindows } from "./models/model-windows.ts";
import { createModels } from "./models/models.ts";
import { offlineOnly } from "./models/offline-only.ts";
import { createTokenRatios } from "./models/token-ratios.ts";
import { missingEngines } from "./plugins/engines/engine-settings.ts";
import { createFlushes } from "./plugins/memory/flush/flushes.ts";
import { transcriptBytes } from "./plugins/memory/flush/transcript-bytes.ts";
import { createPluginTools } from "./plugins/offer/tools.ts";
import { agentFolder } from "./sessions/paths.ts";
import { sessionTools } from "./subagents/session-tools.ts";
import { planTool } from "./tools/plan-tool.ts";
import { readyWorkspace } from "./tools/ready-workspace.ts";
import { createToolPort } from "./tools/tool.ts";
import { workspaceTools } from "./tools/workspace-tools.ts";

/**
 * An engine that is named and that nobody registered is told of at once, better than at the first
 * reply. Throws ENGINE_NOT_FOUND where nobody wants to be told.
 */
export function composeHost(options: HostOptions): Host {
  const { environment, loaded, log, plugins } = options;
  const { config } = loaded;
  const windows = createModelWindows({ home: environment.home, log });
  const engines = createEngines({ ...options, fallback: () => createLegacyEngine() });
  for (const [engineId, factory] of Object.entries(options.ownEngines ?? {}))
    engines.registry.register({ engineId, factory, owner: "host" });
  const models = createModels({ config, environment, log, windows });
  const placeOf = ({ agentId, sessionKey }: HostSession) =>
    options.editorOf?.(sessionKey)?.workspace ??
    readyWorkspace(agentOf(parts, agentId), config.tools);
  const ownTools = [
    ...workspaceTools(placeOf, {
      ...{ ...config.tools, own: environment },
      editorOf: ({ sessionKey }) => options.editorOf?.(sessionKey),
      env: environment.forCommands({ settings: loaded.raw, named: config.tools.shellEnv }),
    }),
    ...sessionTools(options.sessions ?? (() => undefined)),
    planTool(({ sessionKey }) => options.editorOf?.(sessionKey)),
  ];
  const parts: HostParts = {
    ...options,
    engines,
    models: options.callsNoModel ? { ...models, port: offlineOnly(models.port) } : models,
    windows,
    rests: createModelRests({ home: environment.home, log }),
    policy: createTranscriptPolicy({
      ...installedImageCodec(),
      imageLimits: { maxDimensionPx: config.agents.defaults.imageMaxDimensionPx },
    }),
    tools: (approve, added = []) => createToolPort({ tools: [...ownTools, ...added], approve }),
    pluginTools: createPluginTools({
      log,
      runAs: plugins?.runAs ?? ((_pluginId, work) => work()),
      foldersOf: (agentId) => ({
        workspaceDir: agentOf(parts, agentId).workspace,
        agentDir: agentFolder(environment.home, agentId),
      }),
    }),
    flushes: createFlushes({
      log,
      planOf: (subject) => flushPlanOf(parts, subject),
      whyNot: (subject, settings) => whyNotWritable(parts, subject, settings),
      run: (request) => runFlushTurn(parts, request),
      bytesOf: transcriptBytes,
      inSession: options.inSession ?? (async () => {}),
    }),
    harnesses: createHarnesses(
      { ...harnessLoaders(config.harness), ...options.harnesses },
      {
        ...{ home: environment.home, log },
        env: environment.forCommands({ settings: loaded.raw, named: [] }),
      },
    ),
    tokenRatios: createTokenRatios({ home: environment.home, log }),
    rest: createSummariserRest(),
  };
  plugins?.connect({
    ...{ registry: engines.registry, complete: completeForPlugins(parts) },
    hookBytes: config.gateway.limits.hookBytes,
    subagents: options.pluginSubagents,
  });
  for (const missing of missingEngines(
    engines.settings(),
    config.agents.list,
    engines.registry,
    plugins,
  )) {
    if (options.onMissingEngine === undefined) throw missing.error;
    options.onMissingEngine(missing);
  }
  return createHost(parts);
}
