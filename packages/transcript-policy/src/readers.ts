// Tells whose signatures, encrypted thoughts and opaque blocks a model can read.
import { isRecord } from "@clew/plugin-sdk/host";
import { normalizeRoute, profileOf, type Route } from "./route.ts";
import { nonBlank, type StoredBlock, type StoredMessage } from "./stored.ts";

/** What one route can read back. */
export interface Reader {
  /** True for a message whose proofs the model takes as its own, or of which nobody knows. */
  reads(message: StoredMessage): boolean;
  /** True for an opaque block that came from this very route. */
  owns(block: StoredBlock): boolean;
}

/**
 * The reader of a route. A proof is taken from whoever the profile's readable set holds: same
 * provider, same model, same account, or those it names besides. What a message does not tell is
 * taken for the same, as it was stored before anybody told.
 */
export function readerOf(route: Route): Reader {
  const { provider, modelApi, modelId } = normalizeRoute(route);
  const { reads } = profileOf(route).reasoning;
  const models = reads.models === null ? undefined : new RegExp(reads.models);
  const isProvider = (id: string) => id === provider || reads.providers.includes(id);
  const isModel = (id: string) => id === modelId || models?.test(id) === true;
  const isAccount = (id: string) =>
    !reads.sameAccount || route.account === undefined || id === route.account;
  return {
    reads: (message) =>
      isRecord(message) &&
      fits(message.provider, isProvider) &&
      fits(message.model, isModel) &&
      fits(message.account, isAccount),
    owns: ({ api, provider: writer, model }) =>
      api === modelApi && lower(writer) === provider && lower(model) === modelId,
  };
}

const fits = (name: unknown, test: (name: string) => boolean): boolean => {
  const told = lower(name);
  return told === undefined || test(told);
};

const lower = (name: unknown): string | undefined => nonBlank(name)?.toLowerCase();
