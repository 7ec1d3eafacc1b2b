// Checks the settings of compaction.
import { ALWAYS_PROTECTED_TOOLS } from "@clew/plugin-sdk/transcript";
import { agentSettings, defaultAgentId } from "../config/agent.ts";
import { keysWithoutEffect } from "../config/compaction.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import { valueAt } from "../config/path.ts";
import { modelRequest } from "../models/model-request.ts";
import { OFFLINE_MODEL, resolveModel } from "../models/resolve.ts";
import { gatewayTools } from "../recall/gateway-tools.ts";
import type { Finding } from "./finding.ts";

const SECTION = "agents.defaults.compaction";

/** `ownEngine`: id of the engine that answers, where it compacts for itself; null = none does. */
export function checkCompaction(
  environment: Environment,
  { config, raw }: Pick<LoadedConfig, "config" | "raw">,
  ownEngine: string | null,
): Finding[] {
  const { enabled, model } = config.agents.defaults.compaction;
  const idle = keysWithoutEffect(valueAt(raw, SECTION.split("."))).map(({ key, reason }) =>
    idleKey(key, reason),
  );
  const summariser =
    model === undefined
      ? null
      : whyUnusable(() => resolveModel({ ...modelRequest(config, environment), name: model }));
  const answers = agentSettings(config, environment.home, defaultAgentId(config)).model;
  if (summariser !== null) {
    const text = `${SECTION}.model cannot be used, ${answers} summarises instead: ${summariser}`;
    return [
      ...idle,
      { level: "warning", code: "compaction-model-unusable", subject: "compaction", text },
    ];
  }
  const text = enabled
    ? "older history becomes a summary when the window fills"
    : `off (${SECTION}.enabled); only an overflow and /compact compact`;
  const isByCode = model === undefined && answers === OFFLINE_MODEL;
  const who = isByCode
    ? "code lists and quotes what is left out, no model is asked"
    : `${model ?? "the session's model"} summarises`;
  return [
    {
      level: "ok",
      code: "compaction",
      subject: "compaction",
      text: ownEngine === null ? `${text}; ${who}` : besides(ownEngine, `${text}; ${who}`),
    },
    ...idle,
    ...(isByCode && valueAt(raw, [...SECTION.split("."), QUOTED_TURNS]) !== undefined
      ? [idleKey(QUOTED_TURNS, "turns are quoted after a model's prose, and no model writes any")]
      : []),
  ];
}

/** What these settings are for beside an engine that compacts for itself. */
const besides = (engineId: string, text: string) =>
  `"${engineId}" compacts for itself; where it fails, or leaves a session to the host: ${text}`;

const QUOTED_TURNS = "recentTurnsPreserve";

const idleKey = (key: string, reason: string): Finding => ({
  level: "note",
  code: "compaction-idle-key",
  subject: "compaction",
  text: `${SECTION}.${key} changes nothing: ${reason}`,
});

/**
 * Names in `pruneProtectedTools` that no tool has: they are compared letter for letter, and protect
 * nothing. `pluginTools` are those that plugins declare.
 */
export function checkProtectedTools(
  { agents }: LoadedConfig["config"],
  pluginTools: readonly string[],
): Finding[] {
  const known = new Set([...gatewayTools(), ...ALWAYS_PROTECTED_TOOLS, ...pluginTools]);
  return agents.defaults.compaction.pruneProtectedTools
    .filter((name) => !known.has(name))
    .map((name) => {
      const meant = [...known].find((tool) => tool.toLowerCase() === name.toLowerCase());
      const hint = meant === undefined ? "no tool has this name" : `the tool is called ${meant}`;
      return idleKey(`pruneProtectedTools: ${JSON.stringify(name)}`, hint);
    });
}

function whyUnusable(resolve: () => unknown): string | null {
  try {
    resolve();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
