// Looks for model servers on this machine, and for what they have.
import { PROVIDERS } from "@clew/plugin-sdk/host";
import { offeredModels } from "../../models/offered-models.ts";

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
