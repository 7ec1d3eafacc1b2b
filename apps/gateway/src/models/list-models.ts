// Lists every model that is recorded or named in the settings, with all that is known of it.
import { modelProfile, PRICES_AS_OF, PROVIDERS } from "@clew/plugin-sdk/host";
import { modelChains } from "../config/agent.ts";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/schema.ts";
import { type Prices, pricesOf } from "../costs/prices.ts";
import { modelRequest } from "./model-request.ts";
import { isLeftAlone, type Rest, type Rests, restOf } from "./plan-rest.ts";
import { LOCAL_API, limitsOf, resolveModel } from "./resolve.ts";

/** US dollars per million tokens. */
export interface ListedPrices {
  input: number;
  output: number;
  /** Null: not known. */
  cacheRead: number | null;
  cacheWrite: number | null;
  /** To keep a prompt for an hour; null = not known, or as `cacheWrite`. */
  cacheWriteLong: number | null;
  /** What prompts of more than so many tokens cost; null = the same. */
  above: NonNullable<Prices["above"]> | null;
  /** When they were recorded; null = they are the settings' own. */
  asOf: string | null;
}

/** One model as a person may name it. */
export interface ListedModel {
  /** "provider/model"; "provider/*" where any name is taken and none is recorded. */
  name: string;
  /** Which agents ask it: "main", "main, fallback 1", … Empty = none does. */
  usedBy: string[];
  /** Null: the settings do not say enough to tell. */
  api: string | null;
  /** Tokens; null = not known. */
  contextWindow: number | null;
  maxOutputTokens: number | null;
  /** How it is told to think, "none" = it cannot be; null = not known. */
  thinking: string | null;
  /** False: it cannot be told not to. */
  canStopThinking: boolean;
  cache: "none" | "automatic" | "marks" | null;
  prices: ListedPrices | null;
  /** Completes "signs in with …", without a secret; null = `problem` says what is missing. */
  signsInWith: string | null;
  /** Why it cannot be used as the settings are; null = it can. */
  problem: string | null;
  /** How it failed lately; null = it did not. */
  rest: Rest | null;
  /** False: it is asked all the same, as nobody else is there. */
  isLeftAlone: boolean;
  /** What was taken for granted, in sentences. */
  assumed: readonly string[];
}

/** Names of models whose limits and prices are recorded, by provider. */
const RECORDED: Readonly<Record<string, readonly string[]>> = {
  anthropic: [
    "claude-opus-5-5",
    "claude-opus-4-6",
    "claude-opus-4-5",
    "claude-opus-4-1",
    "claude-sonnet-4-6",
    "claude-haiku-4-5",
  ],
  openai: ["gpt-5.6", "gpt-5", "gpt-4.1", "gpt-4o"],
  google: ["gemini-3-pro-preview", "gemini-2.5-pro", "gemini-2.5-flash"],
  deepseek: ["deepseek-chat", "deepseek-reasoner"],
};

export interface ListRequest {
  config: Config;
  environment: Environment;
  rests: Rests;
  /** ms since the epoch. */
  now: number;
}

/** Asks no network. Those in use come first, in the order in which they are asked. */
export function listModels({ config, environment, rests, now }: ListRequest): ListedModel[] {
  const used = usedModels(config, environment.home);
  const chains = modelChains(config, environment.home).map(({ models }) => models);
  return [...new Set([...used.keys(), ...configuredModels(config), ...recordedModels(config)])].map(
    (name) => ({
      ...describe(name, config, environment),
      usedBy: used.get(name) ?? [],
      rest: restOf(rests, name, now) ?? null,
      isLeftAlone: isLeftAlone(name, { chains, rests, now }),
    }),
  );
}

function usedModels(config: Config, home: string): Map<string, string[]> {
  const used = new Map<string, string[]>();
  for (const { agent, models } of modelChains(config, home))
    for (const [place, name] of models.entries())
      used.set(name, [
        ...(used.get(name) ?? []),
        place === 0 ? agent : `${agent}, fallback ${place}`,
      ]);
  return used;
}

const configuredModels = ({ models }: Config): string[] =>
  Object.entries(models.providers).flatMap(([provider, { models: listed }]) =>
    listed.map(({ id }) => `${provider}/${id}`),
  );

/** A provider whose models the settings list has no others. */
function recordedModels({ models: { providers } }: Config): string[] {
  const ids = [...new Set([...PROVIDERS.map(({ id }) => id), ...Object.keys(providers)])];
  return ids.flatMap((provider) => {
    const isListed = Object.hasOwn(providers, provider) && providers[provider]!.models.length > 0;
    const own = PROVIDERS.find(({ id }) => id === provider)?.models?.map(({ id }) => id);
    const names = own ?? RECORDED[provider] ?? ["*"];
    return isListed ? [] : names.map((name) => `${provider}/${name}`);
  });
}

function describe(
  name: string,
  config: Config,
  environment: Environment,
): Omit<ListedModel, "usedBy" | "rest" | "isLeftAlone"> {
  const provider = name.slice(0, Math.max(0, name.indexOf("/")));
  const id = name.slice(provider.length + 1);
  const configured = Object.hasOwn(config.models.providers, provider)
    ? config.models.providers[provider]
    : undefined;
  const listed = configured?.models.find((each) => each.id === id);
  const { model, signsInWith, problem } = reach(name, config, environment);
  const request = modelRequest(config, environment);
  const usual = PROVIDERS.find((each) => each.id === provider)?.apis;
  const api =
    model?.api ??
    listed?.api ??
    configured?.api ??
    usual?.find((each) => request.apis.includes(each)) ??
    usual?.[0] ??
    null;
  const isAny = id === "*";
  const profile =
    model?.profile ??
    (api === null
      ? null
      : modelProfile({
          ...{ provider, api, id },
          ...(listed?.reasoning !== undefined && { reasoning: listed.reasoning }),
          ...(listed?.profile !== undefined && { changes: listed.profile }),
        }));
  const isHosted = PROVIDERS.find((each) => each.id === provider)?.needsKey !== undefined;
  const { contextTokens } = request;
  const limits =
    isAny || profile === null
      ? {
          contextWindow: listed?.contextWindow ?? profile?.limits.contextWindow ?? null,
          maxOutputTokens: listed?.maxTokens ?? profile?.limits.maxOutputTokens ?? null,
        }
      : (model ?? limitsOf({ profile, listed, isHosted, contextTokens }));
  return {
    ...{ name, api, signsInWith, problem },
    contextWindow: limits.contextWindow,
    maxOutputTokens: limits.maxOutputTokens ?? null,
    thinking: isAny ? null : (profile?.reasoning.ask ?? null),
    canStopThinking: profile?.reasoning.canStop ?? true,
    cache: profile?.cache.how ?? null,
    prices: listedPrices(pricesOf(listed, isAny ? null : (profile?.cost ?? null))),
    assumed: isAny ? [] : (profile?.assumed ?? []),
  };
}

function reach(name: string, config: Config, environment: Environment) {
  try {
    const { model, access } = resolveModel({ ...modelRequest(config, environment), name });
    const signsInWith = model.api === LOCAL_API ? "nothing" : access.from;
    return { model, signsInWith, problem: null };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { model: undefined, signsInWith: null, problem };
  }
}

function listedPrices(prices: Prices | null): ListedPrices | null {
  if (prices === null) return null;
  const { input, output, cacheRead, cacheWrite, isRecorded } = prices;
  const { cacheWriteLong = null, above = null } = prices;
  return {
    ...{ input, output, cacheRead, cacheWrite, cacheWriteLong, above },
    asOf: isRecorded ? PRICES_AS_OF : null,
  };
}
