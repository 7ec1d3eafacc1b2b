// Which policy a route gets, and what follows from it for the passes.
import {
  API_POLICIES,
  isResponsesApi,
  isSignedThinkingApi,
  PROVIDER_POLICIES,
  policyByModel,
  resolve,
} from "./policies.ts";
import {
  DEFAULT_POLICY,
  type ProviderPolicies,
  type Route,
  type TranscriptPolicy,
} from "./policy.ts";
import { TEXTS } from "./texts.ts";

/** A route, and the policies of the host that asks. */
export interface PolicyRequest extends Route {
  /** Policies of the host and its plugins, by provider id; each is laid over what the table says. */
  policies?: ProviderPolicies;
}

/**
 * The policy of a route: the provider's own rules, or else those of its api, over the defaults (spec "transcript-policy" §2).
 * Provider and model id are compared trimmed and in lower case.
 */
export function resolveTranscriptPolicy({
  policies = {},
  ...request
}: PolicyRequest): TranscriptPolicy {
  const route = normalizeRoute(request);
  const own = ownEntry(PROVIDER_POLICIES, route.provider);
  const byApi = ownEntry(API_POLICIES, route.modelApi);
  const added = ownEntry(policies, route.provider);
  return {
    ...DEFAULT_POLICY,
    ...((own && resolve(own, route)) ?? (byApi && resolve(byApi, route))),
    ...policyByModel(route),
    ...(added && resolve(added, route)),
  };
}

/** What the passes read besides the policy's own flags (spec §2.4). */
export interface DerivedFlags {
  isResponses: boolean;
  /** Turns with thinking go back as they were, or not at all. */
  keepThinkingTurns: boolean;
  /** Thinking without a signature must go, and so must signatures older than a compaction. */
  needsSignedThinking: boolean;
  missingResultText: string;
}

export function deriveFlags(
  policy: TranscriptPolicy,
  { modelApi }: Pick<Route, "modelApi">,
): DerivedFlags {
  const isResponses = isResponsesApi(modelApi);
  const needsSignedThinking = policy.preserveSignatures || policy.verifiesThinkingSignatures;
  return {
    isResponses,
    needsSignedThinking,
    keepThinkingTurns:
      isSignedThinkingApi(modelApi) &&
      policy.validateAnthropicTurns &&
      needsSignedThinking &&
      !policy.dropThinkingBlocks,
    missingResultText: isResponses ? TEXTS.abortedToolResult : TEXTS.missingToolResult,
  };
}

export function normalizeRoute(route: Route): Route {
  const { provider, modelApi, modelId, model } = route;
  return {
    provider: (provider ?? "").trim().toLowerCase(),
    modelApi: modelApi ?? "",
    modelId: (modelId ?? "").toLowerCase(),
    ...(model !== undefined && { model }),
  };
}

const ownEntry = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
