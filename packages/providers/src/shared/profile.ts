// Which profile a call is made by.
import {
  findProvider,
  type ModelProfile,
  type ModelRef,
  modelProfile,
} from "@clew/plugin-sdk/host";
import type { Endpoint } from "../provider.ts";
import { serverAt } from "./flavor.ts";

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

const serverOf = (provider: string, endpoint: Endpoint): string =>
  endpoint.flavor === undefined
    ? (findProvider(provider)?.id ?? serverAt(endpoint)?.id ?? provider)
    : (serverAt(endpoint)?.id ?? provider);
