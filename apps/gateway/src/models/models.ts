// Resolves each model of a configuration once, and calls it where it is served.
import type { LogPort, ModelPort } from "@clew/engine-core";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/schema.ts";
import { modelRequest } from "./model-request.ts";
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
}

export function createModels({ config, environment, log }: ModelsOptions): Models {
  const resolved = new Map<string, ResolvedModel>();
  const named = (name: string) => {
    const known =
      resolved.get(name) ?? resolveModel({ ...modelRequest(config, environment), name });
    resolved.set(name, known);
    return known;
  };
  return {
    named,
    port: createModelPort({ resolve: named, log, replyBytes: config.gateway.limits.replyBytes }),
  };
}
