// Tells whose signatures, encrypted thoughts and opaque blocks a model can read.
import { isRecord } from "@clew/plugin-sdk/host";
import { normalizeRoute, profileOf, type Route } from "./route.ts";
import { nonBlank, type StoredBlock, type StoredMessage, timestampOf } from "./stored.ts";

/** What one route can read back. */
export interface Reader {
  /** True for a message whose proofs the model takes as its own, or of which nobody knows. */
  reads(message: StoredMessage): boolean;
  /** True for an opaque block of a message that came from this very route. */
  owns(block: StoredBlock, message: StoredMessage): boolean;
}

/**
 * The reader of a route. A proof is taken from whoever the profile's readable set holds: same
 * provider, same model, same account, or those it names besides. What a message does not tell is
 * taken for the same, as it was stored before anybody told. Of what was made until `refusedUntil`
 * (ms since the epoch) it has refused something, so it is given none of that any more.
 */
export function readerOf(route: Route, refusedUntil?: number): Reader {
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
      !isMadeUntil(message, refusedUntil) &&
      fits(message.provider, isProvider) &&
      fits(message.model, isModel) &&
      fits(message.account, isAccount),
    owns: ({ api, provider: writer, model }, message) =>
      !isMadeUntil(message, refusedUntil) &&
      api === modelApi &&
      lower(writer) === provider &&
      lower(model) === modelId,
  };
}

/**
 * True for a message that was made then or earlier, or nobody knows when.
 * @internal
 */
export function isMadeUntil(message: StoredMessage, until: number | undefined): boolean {
  return until !== undefined && (timestampOf(message) ?? until) <= until;
}

const fits = (name: unknown, test: (name: string) => boolean): boolean => {
  const told = lower(name);
  return told === undefined || test(told);
};

const lower = (name: unknown): string | undefined => nonBlank(name)?.toLowerCase();
