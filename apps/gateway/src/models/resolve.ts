// Which model a "provider/model" name means: its wire, limits, address and key.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { ModelRef } from "@clew/plugin-sdk/host";
import type { Endpoint } from "@clew/providers";
import { type Environment, expandVariables } from "../config/environment.ts";
import { nearestOf } from "../text/nearest.ts";
import type { ModelsConfig, ProviderConfig } from "./config.ts";

export interface ResolvedModel {
  /** "provider/model" as it was asked for. */
  name: string;
  model: ModelRef;
  endpoint: Endpoint;
}

export interface ModelRequest {
  name: string;
  models: ModelsConfig;
  environment: Pick<Environment, "variable" | "providerKey">;
  /** Wires that can be spoken. */
  apis: readonly string[];
  /** Caps the window, tokens. */
  contextTokens?: number | undefined;
}

export const OFFLINE_MODEL = "offline/offline";

/** Servers that need no configuration. The window is what they run with unless told otherwise. */
const KNOWN_PROVIDERS: Record<string, ProviderConfig & { needsKey?: true }> = {
  offline: { api: "offline", models: [{ id: "offline", contextWindow: 200_000, maxTokens: 4096 }] },
  ollama: { baseUrl: "http://127.0.0.1:11434/v1", models: [] },
  lmstudio: { baseUrl: "http://127.0.0.1:1234/v1", models: [] },
  vllm: { baseUrl: "http://127.0.0.1:8000/v1", models: [] },
  "llama.cpp": { baseUrl: "http://127.0.0.1:8080/v1", models: [] },
  openai: { baseUrl: "https://api.openai.com/v1", models: [], needsKey: true },
  openrouter: { baseUrl: "https://openrouter.ai/api/v1", models: [], needsKey: true },
};

const DEFAULT_CONTEXT_WINDOW = 32_768;
const DEFAULT_HOSTED_WINDOW = 128_000;
const DEFAULT_MAX_TOKENS = 8192;

/** Throws CONFIG_INVALID with one sentence that names what is known. */
export function resolveModel(request: ModelRequest): ResolvedModel {
  const { name, models, environment, apis, contextTokens } = request;
  const slash = name.indexOf("/");
  const providerId = name.slice(0, slash);
  const modelId = name.slice(slash + 1);
  if (slash <= 0 || modelId === "")
    throw invalid(
      `"${name}" names no model: write "provider/model", for example ${OFFLINE_MODEL}.`,
    );
  const configured = Object.hasOwn(models.providers, providerId)
    ? models.providers[providerId]
    : undefined;
  const builtIn = Object.hasOwn(KNOWN_PROVIDERS, providerId)
    ? KNOWN_PROVIDERS[providerId]
    : undefined;
  if (configured === undefined && builtIn === undefined)
    throw unknownProvider(name, providerId, models);
  const provider: ProviderConfig = {
    ...builtIn,
    ...configured,
    models: configured?.models.length ? configured.models : (builtIn?.models ?? []),
  };

  const listed = provider.models.find(({ id }) => id === modelId);
  if (listed === undefined && provider.models.length > 0)
    throw unknownModel(
      name,
      providerId,
      modelId,
      provider.models.map(({ id }) => id),
    );
  const api = listed?.api ?? provider.api ?? "openai-completions";
  if (!apis.includes(api))
    throw invalid(
      `Model "${name}" speaks "${api}", for which this Clew has no driver; it has: ${apis.join(", ")}.`,
    );
  const isLocal = api === "offline";
  if (!isLocal && provider.baseUrl === undefined) {
    throw invalid(
      `Provider "${providerId}" has no address: set models.providers.${providerId}.baseUrl.`,
    );
  }
  const apiKey = isLocal ? undefined : findKey(providerId, provider, environment);
  if (builtIn?.needsKey === true && apiKey === undefined && configured?.baseUrl === undefined) {
    throw invalid(
      `Provider "${providerId}" needs a key: set ${providerId.toUpperCase()}_API_KEY, or models.providers.${providerId}.apiKey.`,
    );
  }
  const window =
    listed?.contextWindow ??
    (builtIn?.needsKey === true ? DEFAULT_HOSTED_WINDOW : DEFAULT_CONTEXT_WINDOW);
  return {
    name,
    model: {
      provider: providerId,
      api,
      id: modelId,
      contextWindow: Math.min(window, contextTokens ?? window),
      maxOutputTokens: listed?.maxTokens ?? DEFAULT_MAX_TOKENS,
      ...(listed?.input !== undefined && { acceptsImages: listed.input.includes("image") }),
      ...(listed?.reasoning !== undefined && { reasoning: listed.reasoning }),
    },
    endpoint: {
      baseUrl: provider.baseUrl ?? "",
      ...(apiKey !== undefined && { apiKey }),
      ...(provider.headers !== undefined && { headers: provider.headers }),
    },
  };
}

/** Names that can be asked for; a provider without a list takes any name. */
export function knownModelNames(models: ModelsConfig): string[] {
  const ids = [...new Set([...Object.keys(models.providers), ...Object.keys(KNOWN_PROVIDERS)])];
  return ids.flatMap((id) => {
    const listed = models.providers[id]?.models ?? KNOWN_PROVIDERS[id]?.models ?? [];
    return listed.length > 0 ? listed.map((model) => `${id}/${model.id}`) : [`${id}/…`];
  });
}

function findKey(
  providerId: string,
  provider: ProviderConfig,
  environment: ModelRequest["environment"],
): string | undefined {
  if (provider.apiKey === undefined) return environment.providerKey(providerId);
  const expanded = expandVariables(provider.apiKey, environment);
  if ("text" in expanded) return expanded.text;
  const names = expanded.missing.join(", ");
  throw invalid(
    `models.providers.${providerId}.apiKey names ${names}, which is not in the environment; set it and start again.`,
  );
}

function unknownProvider(
  name: string,
  providerId: string,
  models: ModelsConfig,
): ContextEngineError {
  const known = [...new Set([...Object.keys(models.providers), ...Object.keys(KNOWN_PROVIDERS)])];
  const nearest = nearestOf(providerId, known);
  const guess = nearest === null ? "" : ` Did you mean "${nearest}"?`;
  return invalid(
    `Model "${name}" has an unknown provider "${providerId}"; known: ${known.join(", ")}.${guess} Others go into models.providers.`,
  );
}

function unknownModel(
  name: string,
  providerId: string,
  modelId: string,
  known: string[],
): ContextEngineError {
  const nearest = nearestOf(modelId, known);
  const guess = nearest === null ? "" : ` Did you mean "${providerId}/${nearest}"?`;
  return invalid(
    `Model "${name}" is not in models.providers.${providerId}.models; known: ${known.join(", ")}.${guess}`,
  );
}

function invalid(message: string): ContextEngineError {
  return new ContextEngineError("CONFIG_INVALID", message);
}
