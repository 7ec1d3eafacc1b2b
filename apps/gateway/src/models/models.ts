// Resolves each model of a configuration once, and calls it where it is served.
import type { LogPort, ModelPort } from "@clew/engine-core";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/schema.ts";
import type { Prices } from "../costs/prices.ts";
import { type KeptCredential, keepCredential } from "../credentials/keep.ts";
import { keepText } from "../credentials/keep-text.ts";
import { keyHeaders } from "../credentials/sign-in.ts";
import { emptyCall } from "./empty-call.ts";
import { modelRequest } from "./model-request.ts";
import type { ModelWindows } from "./model-windows.ts";
import { pricesNamed } from "./prices-in.ts";
import { type ModelRequest, type ResolvedModel, resolveModel } from "./resolve.ts";
import { createModelPort } from "./router.ts";

export interface Models {
  /**
   * `contextTokens` caps its window; absent: as the defaults of agents do. Throws CONFIG_INVALID
   * for a name that means nothing.
   */
  named(name: string, contextTokens?: number): ResolvedModel;
  /** The same for a client that signs in by its own key. */
  namedForClient(name: string): ResolvedModel;
  /** Null: not known. Also of a model that cannot be asked, as its key is missing. */
  pricesOf(name: string): Prices | null;
  /**
   * The headers by which one signs in to its server; none where no key is set. What it throws is
   * one sentence without a secret.
   */
  signInHeaders(resolved: ResolvedModel): Promise<Record<string, string>>;
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
  /** One for all models of a provider. */
  const kept = new Map<string, KeptCredential>();
  const reach = {
    fetch: globalThis.fetch,
    now: Date.now,
    readText: environment.readText,
    keepText,
  };
  const request = modelRequest(config, environment);
  const resolve = (asked: Pick<ModelRequest, "name" | "contextTokens" | "key">) => {
    const place = JSON.stringify([asked.name, asked.contextTokens, asked.key]);
    const known = resolved.get(place) ?? resolveModel({ ...request, ...asked });
    resolved.set(place, known);
    return withLearnedWindow(known, windows.all());
  };
  const named = (name: string, contextTokens = request.contextTokens) =>
    resolve({ name, contextTokens });
  const prices = new Map<string, Prices | null>();
  const pricesOf = (name: string): Prices | null => {
    if (!prices.has(name)) prices.set(name, pricesNamed({ ...request, name }));
    return prices.get(name) ?? null;
  };
  const credentialFor = ({ access, model }: ResolvedModel): KeptCredential | undefined => {
    if (access.source === undefined) return undefined;
    const known = kept.get(model.provider) ?? keepCredential(access.source, reach);
    kept.set(model.provider, known);
    return known;
  };
  /** All is looked up again at the next call: what somebody wrote may have changed. */
  const refused = ({ model: { provider } }: ResolvedModel) => {
    kept.delete(provider);
    for (const [key, { model }] of resolved) if (model.provider === provider) resolved.delete(key);
  };
  const { limits } = config.gateway;
  return {
    named,
    namedForClient: (name) =>
      resolve({ name, contextTokens: request.contextTokens, key: "client" }),
    pricesOf,
    async signInHeaders(resolved) {
      const { model, endpoint } = resolved;
      const kept = credentialFor(resolved);
      const { apiKey } = endpoint;
      if (kept === undefined)
        return apiKey === undefined ? {} : keyHeaders(emptyCall(model), endpoint, apiKey);
      const credential = await kept.get();
      return credential.kind === "key"
        ? keyHeaders(emptyCall(model), endpoint, credential.key)
        : {};
    },
    port: createModelPort({ resolve: (name) => named(name), credentialFor, refused, log, limits }),
  };
}

function withLearnedWindow(
  known: ResolvedModel,
  windows: ReturnType<ModelWindows["all"]>,
): ResolvedModel {
  // What the provider said is not assumed.
  const { windowSetting: _, ...model } = known.model;
  const { provider, id, contextWindow } = model;
  const tokens = windows[`${provider}/${id}`]?.tokens ?? contextWindow;
  return tokens < contextWindow ? { ...known, model: { ...model, contextWindow: tokens } } : known;
}
