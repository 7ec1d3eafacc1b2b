// What the configuration says of models, in the form `resolveModel` takes.
import { DRIVER_APIS } from "@clew/providers";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/schema.ts";
import type { ModelRequest } from "./resolve.ts";

/** Everything `resolveModel` needs besides the name. */
export function modelRequest(config: Config, environment: Environment): Omit<ModelRequest, "name"> {
  return {
    models: config.models,
    environment,
    apis: DRIVER_APIS,
    contextTokens: config.agents.defaults.contextTokens,
  };
}
