// Looks for model servers on this machine, and for what they have.
import { PROVIDERS } from "@clew/plugin-sdk/host";
import { addressBelow, askForModels, offeredModels } from "../../models/offered-models.ts";

/** Pure. */
export const describeBelow = (typed: string, below: string): string =>
  `${typed} lists no models and ${below} does; that address is taken.`;

export interface LocalServer {
  provider: string;
  baseUrl: string;
  /** Names of its models, as it lists them. */
  models: string[];
}

/** They need no key, and most people who run one have one of these. */
const LOOKED_FOR = ["ollama", "lmstudio"] as const;
/** On this machine an answer takes no longer, ms. */
const LOOK_MS = 1500;

/**
 * Those that do not answer are left out. `elsewhere`: addresses by provider, in the place of the
 * usual ones.
 */
export async function findLocalServers(
  elsewhere: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<LocalServer[]> {
  const providers = [...new Set([...LOOKED_FOR, ...Object.keys(elsewhere)])];
  const found = await Promise.all(
    providers.map(async (provider): Promise<LocalServer[]> => {
      const usual = PROVIDERS.find(({ id }) => id === provider)?.baseUrl;
      const baseUrl = elsewhere[provider] ?? usual;
      if (baseUrl === undefined) return [];
      const models = await offeredModels({
        ...{ baseUrl, timeoutMs: LOOK_MS },
        ...(signal !== undefined && { signal }),
      });
      return models === null ? [] : [{ provider, baseUrl, models }];
    }),
  );
  return found.flat();
}

/** Those that lack their last part get it; `moved` tells so, in sentences. */
export async function completeAddresses(
  given: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ elsewhere: Record<string, string>; moved: string[] }> {
  const limits = { timeoutMs: LOOK_MS, signal };
  const found = await Promise.all(
    Object.entries(given).map(async ([provider, baseUrl]) => {
      const list = await askForModels({ baseUrl, ...limits });
      const below = await addressBelow({ baseUrl, ...limits }, list);
      return { provider, baseUrl, below };
    }),
  );
  return {
    elsewhere: Object.fromEntries(
      found.map(({ provider, baseUrl, below }) => [provider, below ?? baseUrl]),
    ),
    moved: found.flatMap(({ baseUrl, below }) =>
      below === null ? [] : [describeBelow(baseUrl, below)],
    ),
  };
}
