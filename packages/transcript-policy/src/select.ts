// Which policy a route gets, and what follows from it for the passes.
import { findApi, findProvider } from "@clew/plugin-sdk/host";
import {
  DEFAULT_POLICY,
  FAMILIES,
  type ProviderPolicies,
  policyByModel,
  resolve,
  type TranscriptPolicy,
} from "./policies.ts";
import { isResponsesApi, isSignedThinkingApi, normalizeRoute, type Route } from "./route.ts";
import { TEXTS } from "./texts.ts";

/** A route, and the policies of the host that asks. */
export interface PolicyRequest extends Route {
  /**
   * Policies of the host and its plugins, by provider id; each is laid over what the
   * catalogue says. Default: none.
   */
  policies?: ProviderPolicies;
}

/**
 * The policy of a route: the provider's own rules, or else those of its api, over the defaults
 * (spec "transcript-policy" §2). Provider and model id are compared trimmed and in lower case.
 */
export function resolveTranscriptPolicy({
  policies = {},
  ...request
}: PolicyRequest): TranscriptPolicy {
  const route = normalizeRoute(request);
  const family = findProvider(route.provider)?.policy;
  const byApi = findApi(route.modelApi)?.policy;
  const added = Object.hasOwn(policies, route.provider) ? policies[route.provider] : undefined;
  return {
    ...DEFAULT_POLICY,
    ...((family && resolve(FAMILIES[family], route)) ?? (byApi && resolve(FAMILIES[byApi], route))),
    ...policyByModel(route, family),
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
