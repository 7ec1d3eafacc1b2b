// What model a name of the form provider/model means.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  findProvider,
  type ModelProfile,
  type ModelRef,
  modelProfile,
  PROVIDERS,
  type ProviderRecord,
  providerAt,
} from "@clew/plugin-sdk/host";
import { type Endpoint, serverAt } from "@clew/providers";
import type { ModelConfig, ModelsConfig, ProviderConfig } from "../config/models.ts";
import { FREE, type Prices, pricesOf } from "../costs/prices.ts";
import {
  type Access,
  type AccessEnvironment,
  findAccess,
  findAddress,
} from "../credentials/find.ts";
import { nearestName } from "../text/nearest.ts";
import { accountFingerprint } from "./account.ts";

export interface ResolvedModel {
  /** "provider/model" as it was asked for. */
  name: string;
  model: ModelRef;
  endpoint: Endpoint;
  /** How it is signed in to, where the endpoint does not hold all of it. */
  access: Omit<Access, "baseUrl" | "apiKey">;
  /** Of its tokens; null = not known. */
  prices: Prices | null;
  /** Longest silence of its server, ms. Absent: the usual one. */
  idleTimeoutMs?: number;
}

export interface ModelRequest {
  name: string;
  models: ModelsConfig;
  environment: AccessEnvironment;
  /** Wires that can be spoken. */
  apis: readonly string[];
  /** Caps the window, tokens. */
  contextTokens?: number | undefined;
  /** "client": who asks signs in, so that no key of the gateway's is needed. Absent: by its own. */
  key?: "client" | undefined;
}

export const OFFLINE_MODEL = "offline/offline";

/** Runs in this process: no address, no key. */
export const LOCAL_API = "offline";
const NOWHERE: Access = { baseUrl: "", from: "nothing" };
const COMMON_API = "openai-completions";
/** Names that other hosts have for an api of ours. */
const SPOKEN_AS: ReadonlyMap<string, string> = new Map([
  ["azure-openai-responses", "openai-responses"],
]);
const DEFAULT_CONTEXT_WINDOW = 32_768;
const DEFAULT_HOSTED_WINDOW = 128_000;
const DEFAULT_MAX_TOKENS = 8192;
/** Of the window, what a reply may take of it unless a setting says more. */
const REPLY_SHARE = 0.16;

/** Throws CONFIG_INVALID with one sentence that names what is known. */
export function resolveModel(request: ModelRequest): ResolvedModel {
  const { name, models, apis, contextTokens } = request;
  const slash = name.indexOf("/");
  const providerId = name.slice(0, slash);
  const modelId = name.slice(slash + 1);
  if (slash <= 0 || modelId === "")
    throw invalid(
      `"${name}" is not a model name; write "provider/model", for example ${OFFLINE_MODEL}.`,
    );
  const record = findProvider(providerId);
  const configured = Object.hasOwn(models.providers, providerId)
    ? models.providers[providerId]
    : undefined;
  const unknown = whyUnknownProvider(name, request);
  if (unknown !== null) throw invalid(unknown);

  const listed = findModel(name, modelId, configured, record);
  const named = listed?.api ?? configured?.api ?? usualApi(record, configured, apis);
  const api = SPOKEN_AS.get(named) ?? named;
  if (!apis.includes(api))
    throw invalid(
      `Model "${name}" speaks "${api}", for which this Clew has no driver; it has: ${apis.join(", ")}.`,
    );
  const { apiKey, ...reached }: Access =
    api === LOCAL_API ? NOWHERE : accessOf(providerId, configured, request);
  const { baseUrl, ...access } = reached;
  const endpoint = endpointOf(baseUrl, apiKey, configured);
  const profile = findProfile({ providerId, modelId, api, listed, endpoint });
  const secret = apiKey ?? access.source?.account;
  return {
    name,
    model: {
      provider: providerId,
      api,
      id: modelId,
      ...limitsOf({ profile, listed, isHosted: record?.needsKey !== undefined, contextTokens }),
      ...(listed?.contextWindow === undefined &&
        profile.limits.contextWindow === null && {
          windowSetting: `contextWindow in models.providers.${providerId}.models`,
        }),
      ...(listed?.input !== undefined && { acceptsImages: listed.input.includes("image") }),
      ...(listed?.reasoning !== undefined && { reasoning: listed.reasoning }),
      ...(record?.cacheTtlMs !== undefined && { cacheTtlMs: record.cacheTtlMs }),
      ...(secret !== undefined && {
        account: accountFingerprint({ provider: providerId, secret }),
      }),
      profile,
    },
    endpoint,
    access,
    prices: api === LOCAL_API ? FREE : pricesOf(listed, profile.cost),
    ...(configured?.timeoutSeconds !== undefined && {
      idleTimeoutMs: configured.timeoutSeconds * 1000,
    }),
  };
}

/** An address that nobody knows is told with what else is missing. */
function accessOf(
  providerId: string,
  configured: ProviderConfig | undefined,
  { environment, key }: Pick<ModelRequest, "environment" | "key">,
): Access {
  const baseUrl = key === "client" ? findAddress(providerId, configured, environment) : undefined;
  return baseUrl === undefined
    ? findAccess(providerId, configured, environment)
    : { baseUrl, from: "its client's key" };
}

/** How much a model reads and says at once, as far as calls of it go, in tokens. */
export function limitsOf({
  profile,
  listed,
  isHosted,
  contextTokens,
}: {
  profile: ModelProfile;
  listed: Pick<ModelConfig, "contextWindow" | "maxTokens"> | undefined;
  /** Its provider is known to want a key. */
  isHosted: boolean;
  contextTokens?: number | undefined;
}): { contextWindow: number; maxOutputTokens: number } {
  const usual = isHosted ? DEFAULT_HOSTED_WINDOW : DEFAULT_CONTEXT_WINDOW;
  const window = listed?.contextWindow ?? profile.limits.contextWindow ?? usual;
  return {
    contextWindow: Math.min(window, contextTokens ?? window),
    maxOutputTokens: listed?.maxTokens ?? replyCap(profile, window),
  };
}

/**
 * What the model can say at once, as far as prompts leave room for it: several providers refuse a
 * prompt that does not fit together with the longest reply.
 */
const replyCap = ({ limits }: ModelProfile, window: number): number =>
  limits.maxOutputTokens === null
    ? DEFAULT_MAX_TOKENS
    : Math.min(
        limits.maxOutputTokens,
        Math.max(DEFAULT_MAX_TOKENS, Math.floor(REPLY_SHARE * window)),
      );

/** What the catalogue says of the server that answers, under what the configuration says. */
function findProfile({
  providerId,
  modelId,
  api,
  listed,
  endpoint,
}: {
  providerId: string;
  modelId: string;
  api: string;
  listed: Partial<ModelConfig> | undefined;
  endpoint: Endpoint;
}): ModelProfile {
  return modelProfile({
    provider: serverAt(endpoint)?.id ?? providerId,
    api,
    id: modelId,
    ...(listed?.reasoning !== undefined && { reasoning: listed.reasoning }),
    ...(listed?.profile !== undefined && { changes: listed.profile }),
  });
}

function endpointOf(
  baseUrl: string,
  apiKey: string | undefined,
  configured: ProviderConfig | undefined,
): Endpoint {
  return {
    baseUrl,
    ...(apiKey !== undefined && { apiKey }),
    ...(configured?.headers !== undefined && { headers: configured.headers }),
    ...(configured?.project !== undefined && { project: configured.project }),
    ...(configured?.flavor !== undefined && { flavor: configured.flavor }),
  };
}

/**
 * The first api of a provider that can be spoken; a server of a person's own speaks the common one,
 * also where it stands in for a provider that has it.
 */
function usualApi(
  record: ProviderRecord | undefined,
  configured: ProviderConfig | undefined,
  apis: readonly string[],
): string {
  const baseUrl = configured?.baseUrl;
  const spoken = (record?.apis ?? []).filter((api) => apis.includes(api));
  const isStandIn = baseUrl !== undefined && providerAt(baseUrl)?.id !== record?.id;
  if (isStandIn && spoken.includes(COMMON_API)) return COMMON_API;
  if (spoken[0] !== undefined) return spoken[0];
  return baseUrl === undefined ? (record?.apis[0] ?? COMMON_API) : COMMON_API;
}

/** What is known of the model; undefined = any name is taken. Throws for one that is not listed. */
function findModel(
  name: string,
  modelId: string,
  configured: ProviderConfig | undefined,
  record: ProviderRecord | undefined,
): Partial<ModelConfig> | undefined {
  const models: readonly ModelConfig[] = configured?.models.length
    ? configured.models
    : (record?.models ?? []).map(({ id, contextWindow, maxOutputTokens }) => ({
        ...{ id, contextWindow, maxTokens: maxOutputTokens },
      }));
  const listed = models.find(({ id }) => id === modelId);
  if (listed !== undefined || models.length === 0) return listed;
  throw unknownModel(
    name,
    modelId,
    models.map(({ id }) => id),
  );
}

type Known = Pick<ModelRequest, "models" | "apis">;

/** Pure. Of the settings, and those that Clew can ask without any. */
export function knownProviders({ models, apis }: Known): string[] {
  const ready = PROVIDERS.filter((record) => record.apis.some((api) => apis.includes(api)));
  return [...new Set([...Object.keys(models.providers), ...ready.map(({ id }) => id)])];
}

/** Pure. What is wrong with the name of a provider, and what was meant; null = it is known. */
export function whyUnknownProvider(name: string, { models, apis }: Known): string | null {
  const providerId = name.slice(0, name.indexOf("/"));
  if (isProvider(providerId, models)) return null;
  const known = knownProviders({ models, apis });
  const nearest = nearestName(providerId, known);
  const start = `Model "${name}" has an unknown provider "${providerId}"`;
  // Thirty names bury the one that was meant.
  return nearest === null
    ? `${start}; known: ${known.join(", ")}. Add others to models.providers.`
    : `${start}. Did you mean "${nearest}"? Others are added to models.providers; "clew models list" shows what is known.`;
}

/** Pure. Also true of one that no driver can ask. */
export const isProvider = (id: string, { providers }: ModelsConfig): boolean =>
  Object.hasOwn(providers, id) || findProvider(id) !== undefined;

function unknownModel(name: string, modelId: string, known: string[]): ContextEngineError {
  const providerId = name.slice(0, name.indexOf("/"));
  const nearest = nearestName(modelId, known);
  const start = `Model "${name}" is not in models.providers.${providerId}.models`;
  return invalid(
    nearest === null
      ? `${start}; known: ${known.join(", ")}.`
      : `${start}. Did you mean "${providerId}/${nearest}"? Known: ${known.join(", ")}.`,
  );
}

function invalid(message: string): ContextEngineError {
  return new ContextEngineError("CONFIG_INVALID", message);
}
