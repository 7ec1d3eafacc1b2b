// Where a history is going, and which wire takes it there.
import { findApi, type ModelProfile, modelProfile, type WireName } from "@clew/plugin-sdk/host";

/** What is known of a model beyond its name. */
export interface ModelTraits {
  /** True: it thinks before it answers. Default: told from its name. */
  reasoning?: boolean;
  /**
   * What its server lacks beside others of the same api; as in `openclaw.json`. Default: nothing.
   */
  compat?: { supportsReasoningEffort?: boolean };
}

/** Where a history is going: which provider, by which api, to which model. */
export interface Route {
  /** Provider id, e.g. "openai"; compared trimmed and in lower case. */
  provider: string;
  /** Wire protocol, e.g. "openai-completions". */
  modelApi: string;
  /** As the provider names it; compared in lower case. */
  modelId: string;
  /** Default: nothing is known beyond the name. */
  model?: ModelTraits;
  /** What the host knows of the model, as in `ModelRef`. Default: what the catalogue says. */
  profile?: ModelProfile;
  /** Fingerprint of the account that is asked, as in `ModelRef`. Default: taken for any. */
  account?: string;
}

/** Provider and model as the tables spell them: trimmed and in lower case. */
export function normalizeRoute(route: Route): Route {
  const { provider, modelApi, modelId, model, profile, account } = route;
  return {
    provider: (provider ?? "").trim().toLowerCase(),
    modelApi: modelApi ?? "",
    modelId: (modelId ?? "").toLowerCase(),
    ...(model !== undefined && { model }),
    ...(profile !== undefined && { profile }),
    ...(account !== undefined && { account }),
  };
}

/** What is known of the model behind a route. */
export function profileOf({ provider, modelApi, modelId, model, profile }: Route): ModelProfile {
  if (profile !== undefined) return profile;
  const reasoning = model?.reasoning;
  return modelProfile({
    provider: provider ?? "",
    api: modelApi ?? "",
    id: modelId ?? "",
    ...(reasoning !== undefined && { reasoning }),
  });
}

/** The message format of an api; undefined for an api the catalogue does not hold. */
export const wireOf = (modelApi: string): WireName | undefined => findApi(modelApi)?.wire;

/** An api whose thinking blocks carry a signature that is bound to the history before them. */
export function isSignedThinkingApi(modelApi: string): boolean {
  const wire = wireOf(modelApi);
  return wire === "messages" || wire === "converse";
}

/** An api with reasoning items, `call_*|fc_*` ids, and results named "aborted". */
export const isResponsesApi = (modelApi: string): boolean => wireOf(modelApi) === "responses";
