// Resolves each model of a configuration once, and calls it where it is served.
import type { LogPort, ModelPort } from "@clew/engine-core";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/schema.ts";
import { modelRequest } from "./model-request.ts";
import type { ModelWindows } from "./model-windows.ts";
import { type ResolvedModel, resolveModel } from "./resolve.ts";
import { createModelPort } from "./router.ts";

export interface Models {
  /** Throws CONFIG_INVALID for a name that means nothing. */
  named(name: string): ResolvedModel;
  readonly port: ModelPort;
}

export interface ModelsOptions {
  config: Config;
  environment: Environment;
  log: LogPort;
  /** What providers said that their models hold. */
  windows: Pick<ModelWindows, "all">;
}

export function createModels({ config, environment, log, windows }: ModelsOptions): Models {
  const resolved = new Map<string, ResolvedModel>();
  const named = (name: string) => {
    const known =
      resolved.get(name) ?? resolveModel({ ...modelRequest(config, environment), name });
    resolved.set(name, known);
    return withLearnedWindow(known, windows.all());
  };
  return {
    named,
    port: createModelPort({ resolve: named, log, limits: config.gateway.limits }),
  };
}

function withLearnedWindow(
  known: ResolvedModel,
  windows: ReturnType<ModelWindows["all"]>,
): ResolvedModel {
  const { provider, id, contextWindow } = known.model;
  const tokens = windows[`${provider}/${id}`]?.tokens ?? contextWindow;
  return tokens < contextWindow
    ? { ...known, model: { ...known.model, contextWindow: tokens } }
    : known;
}
