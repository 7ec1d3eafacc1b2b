// Whose dialect of an api the server at an endpoint speaks.
import {
  type ChatFlavorName,
  findProvider,
  PROVIDERS,
  type ProviderRecord,
  providerAt,
} from "@clew/plugin-sdk/host";
import type { Endpoint } from "../provider.ts";

/** The dialects of Chat Completions. */
const CHAT_FLAVOR_NAMES = [
  "compatible",
  "openai",
  "groq",
  "deepseek",
  "kimi",
  "template",
] as const satisfies readonly ChatFlavorName[];

/** Names that `Endpoint.flavor` takes: dialects of Chat Completions, and providers by id. */
export const FLAVORS: readonly string[] = [
  ...new Set([...CHAT_FLAVOR_NAMES, ...PROVIDERS.map(({ id }) => id)]),
];

/** The provider whose dialect is spoken: named by the endpoint, else told from its address. */
export function serverAt({
  flavor,
  baseUrl,
}: Pick<Endpoint, "flavor" | "baseUrl">): ProviderRecord | undefined {
  if (flavor === undefined) return providerAt(baseUrl);
  return findProvider(flavor) ?? PROVIDERS.find((record) => record.flavor === flavor);
}

/** Undefined: the flavor is one, or none is named; else a sentence about what there is. */
export const unknownFlavor = ({ flavor }: Pick<Endpoint, "flavor">): string | undefined =>
  flavor === undefined || FLAVORS.includes(flavor)
    ? undefined
    : `There is no flavor "${flavor}"; an endpoint may name: ${FLAVORS.join(", ")}.`;
