// Says what to do about a model that its provider refuses, whatever it is asked.
import type { ModelError } from "@clew/plugin-sdk/host";
import { nearestName } from "../text/nearest.ts";
import { explainMissingKey } from "./missing-key.ts";
import { offeredModels } from "./offered-models.ts";
import type { ResolvedModel } from "./resolve.ts";

const LIST_MS = 3000;
/** Names that are listed when none is near the wanted one. */
const LISTED = 5;

/** True: no other request would fare better with this key, account and name. */
export const isStandingRefusal = ({ kind }: Pick<ModelError, "kind">): boolean =>
  kind === "auth" || kind === "billing" || kind === "not_found";

/** Asks the server what it has, where it does not have the model. */
export async function explainRefusal(error: ModelError, resolved: ResolvedModel): Promise<string> {
  const { message, kind } = explainMissingKey(error, resolved);
  if (kind !== "not_found") return message;
  const { baseUrl, apiKey, headers } = resolved.endpoint;
  const offered = await offeredModels({
    baseUrl,
    headers: { ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }), ...headers },
    timeoutMs: LIST_MS,
  });
  if (offered === null || offered.length === 0)
    return `${message} "clew models list" lists those that are known.`;
  return `${message}${describeOffered(resolved, offered)}`;
}

/** Pure. A sentence to put behind another, or nothing. */
export function describeOffered(
  { model: { provider, id } }: Pick<ResolvedModel, "model">,
  offered: readonly string[],
): string {
  // It lists the model, so something else is wrong.
  if (offered.length === 0 || offered.includes(id)) return "";
  const nearest = nearestName(id, offered);
  if (nearest !== null) return ` Did you mean "${provider}/${nearest}"?`;
  const more = offered.length - LISTED;
  return ` That server has: ${offered.slice(0, LISTED).join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
}
