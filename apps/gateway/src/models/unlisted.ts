// Says that a server's own list does not have a model, and which one may be meant.
import { providerAt } from "@clew/plugin-sdk/host";
import { nearestName } from "../text/nearest.ts";

/** Names that are told. */
const TOLD = 5;
/** What providers put behind the name of a model to mark its newest or its date. */
const VERSION = /^[-@](?:latest|\d{8}|\d{4}-\d\d-\d\d|\d{3})$/;

/** Pure. False: it lists what could be deployed, not the deployments that are asked. */
export const isOfModels = (baseUrl: string): boolean => providerAt(baseUrl)?.id !== "azure-openai";

/** Pure. A model is asked by its name, or by one that a provider takes for it. */
export function isListed(id: string, names: readonly string[]): boolean {
  if (id.endsWith("-latest")) return true;
  const [base = id, variant] = id.split(":");
  return names.some(
    (name) =>
      name === id ||
      name === `${id}:latest` ||
      (variant !== undefined && name === base) ||
      (name.startsWith(id) && VERSION.test(name.slice(id.length))),
  );
}

/** Pure. Null: it has the model, or tells nothing of what it has. */
export function describeUnlisted(
  { provider, id }: { provider: string; id: string },
  { address, names }: { address: string; names: readonly string[] },
): string | null {
  if (names.length === 0 || isListed(id, names)) return null;
  const more = names.length - TOLD;
  const told = `${names.slice(0, TOLD).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  const nearest = nearestName(id, names);
  const meant = nearest === null ? "" : `; did you mean "${provider}/${nearest}"?`;
  return `${provider}/${id} is not among the models that ${address} lists (${told})${meant}`;
}
