// Which profile a call is made by.
import {
  findProvider,
  type ModelProfile,
  type ModelRef,
  modelProfile,
  PROVIDERS,
  providerAt,
} from "@clew/plugin-sdk/host";
import type { Endpoint } from "../provider.ts";

/**
 * The profile of a model: the host's, else the catalogue's. Who serves it is told by the flavor an
 * endpoint names, else by a provider the catalogue knows, else by the address.
 */
export function profileFor(model: ModelRef, endpoint: Endpoint): ModelProfile {
  const { provider, api, id, reasoning, profile } = model;
  if (profile !== undefined) return profile;
  return modelProfile({
    provider: serverOf(provider, endpoint),
    api,
    id,
    ...(reasoning !== undefined && { reasoning }),
  });
}

function serverOf(provider: string, { flavor, baseUrl }: Endpoint): string {
  const flavored = PROVIDERS.find((record) => flavor !== undefined && record.flavor === flavor);
  if (flavored !== undefined) return flavored.id;
  return findProvider(provider)?.id ?? providerAt(baseUrl)?.id ?? provider;
}
