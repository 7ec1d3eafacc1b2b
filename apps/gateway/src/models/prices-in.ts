// Finds what a model costs, also where nothing could be asked of it.
import type { Environment } from "../config/environment.ts";
import { loadConfig } from "../config/load.ts";
import { type ModelsConfig, ProviderConfigSchema } from "../config/models.ts";
import { ConfigSchema } from "../config/schema.ts";
import type { Prices } from "../costs/prices.ts";
import { modelRequest } from "./model-request.ts";
import { type ModelRequest, resolveModel } from "./resolve.ts";

/** Null: not known. A key that is missing keeps nobody from knowing them. */
export function pricesNamed(request: ModelRequest): Prices | null {
  for (const models of [request.models, withKey(request)])
    try {
      return resolveModel({ ...request, models }).prices;
    } catch {
      // A key may be all that was missing.
    }
  return null;
}

function withKey({ models, name }: ModelRequest): ModelsConfig {
  const provider = name.slice(0, Math.max(0, name.indexOf("/")));
  const known = models.providers[provider] ?? ProviderConfigSchema.parse({});
  const asked = { ...known, apiKey: "nobody is asked" };
  return { ...models, providers: { ...models.providers, [provider]: asked } };
}

/** By the settings of a home; where they cannot be read, by the catalogue. */
export async function pricesIn(
  environment: Environment,
): Promise<(model: string) => Prices | null> {
  const loaded = await loadConfig(environment.configFile).catch(() => undefined);
  const request = modelRequest(loaded?.config ?? ConfigSchema.parse({}), environment);
  return (name) => pricesNamed({ ...request, name });
}
