// Whose failure it is, and what may be said of them.
import { secretsInAddress, shownAddress } from "@clew/plugin-sdk/host";
import type { Endpoint } from "../provider.ts";

import { withoutSecrets } from "./secrets.ts";

/** Whose failure it is. */
export interface FailureOrigin {
  /** `ModelRef.provider`. */
  provider: string;
  /** `ModelRef.api`, to be named where the address does not know it. Default: it is not named. */
  api?: string;
  /** Where the call went. */
  endpoint: Endpoint;
  /** ms since the epoch, for a Retry-After that is a date. Default: the wall clock. */
  now?: () => number;
  /** What no message may repeat, beside what the endpoint holds. Default: nothing else. */
  secrets?: readonly string[];
}

/** Characters of a provider's own words that a message repeats. */
const DETAIL_LIMIT = 300;

/** The provider and its address, to begin a sentence with. */
export const who = (origin: FailureOrigin): string =>
  `Model provider "${origin.provider}" (${addressOf(origin)})`;

/** The base URL as people may see it. */
export const addressOf = ({ endpoint }: FailureOrigin): string => shownAddress(endpoint.baseUrl);

/** Others' words, short and without what nobody may be told. */
export function quoted(words: string, { endpoint, secrets = [] }: FailureOrigin): string {
  const own = [endpoint.apiKey ?? "", ...secretsInAddress(endpoint.baseUrl), ...secrets];
  return clip(withoutSecrets(words, own));
}

function clip(text: string): string {
  const line = text
    .slice(0, 4 * DETAIL_LIMIT)
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[.;]$/, "");
  return line.length > DETAIL_LIMIT ? `${line.slice(0, DETAIL_LIMIT)}…` : line;
}
