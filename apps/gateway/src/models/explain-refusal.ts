// Says what to do about a model that its provider refuses, whatever it is asked.
import { type ModelError, shownAddress } from "@clew/plugin-sdk/host";
import { nearestName } from "../text/nearest.ts";
import { explainMissingKey } from "./missing-key.ts";
import { askForModels, type ModelList } from "./offered-models.ts";
import type { ResolvedModel } from "./resolve.ts";
import { describeUnlisted, isOfModels } from "./unlisted.ts";

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
  const list = await askList(resolved);
  const offered = list.kind === "models" ? list.models : null;
  if (offered === null || offered.length === 0)
    return `${message} "clew models list" lists those that are known.`;
  return `${message}${describeOffered(resolved, offered)}`;
}

/** Null: its server has it, or does not say what it has. */
export async function explainUnlisted(resolved: ResolvedModel): Promise<string | null> {
  const { model, endpoint } = resolved;
  if (!isOfModels(endpoint.baseUrl)) return null;
  const list = await askList(resolved);
  if (list.kind !== "models" || !list.isWhole) return null;
  const address = shownAddress(endpoint.baseUrl);
  return describeUnlisted(model, { address, names: list.models });
}

function askList({ endpoint: { baseUrl, apiKey, headers } }: ResolvedModel): Promise<ModelList> {
  return askForModels({
    baseUrl,
    headers: { ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }), ...headers },
    timeoutMs: LIST_MS,
  });
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
