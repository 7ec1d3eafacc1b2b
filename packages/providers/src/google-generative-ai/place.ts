// Where a Gemini model answers, and how one signs in there.
import { type ModelRef, shownAddress } from "@clew/plugin-sdk/host";
import type { Endpoint } from "../provider.ts";
import { addressAt } from "../shared/address.ts";
import { bearer } from "../shared/headers.ts";

/** "studio" Google AI, with a key · "vertex" a Google Cloud project, with a token. */
export type GeminiPlace = "studio" | "vertex";

/** Told by the provider's id, else by the address. */
export const placeOf = ({ provider }: ModelRef, { baseUrl }: Endpoint): GeminiPlace =>
  provider === "google-vertex" || VERTEX_ADDRESS.test(shownAddress(baseUrl)) ? "vertex" : "studio";

const VERTEX_ADDRESS = /\/\/(?:[a-z0-9-]+-)?aiplatform\.|\/locations\/[a-z0-9-]+\/?$/;

/**
 * The address of a streamed answer. The base URL ends in the version at Google AI ("…/v1beta"),
 * and in project and location at Vertex ("…/v1/projects/P/locations/L", L may be "global").
 */
export function addressOf(model: ModelRef, endpoint: Endpoint): string {
  const path = placeOf(model, endpoint) === "vertex" ? vertexPath(model.id) : studioPath(model.id);
  return addressAt(endpoint, `${path}:streamGenerateContent?alt=sse`);
}

/**
 * A key of Google AI goes into a header, never into the address, which ends up in logs. Vertex
 * wants a token, but for the keys of its express mode.
 */
export function signIn(model: ModelRef, endpoint: Endpoint): Record<string, string> {
  const { apiKey } = endpoint;
  if (apiKey === undefined) return {};
  return placeOf(model, endpoint) === "vertex" && !API_KEY.test(apiKey)
    ? bearer(endpoint)
    : { "x-goog-api-key": apiKey };
}

const API_KEY = /^(?:AIza|AQ\.)/;

/** "gemini-…", or a whole path such as "tunedModels/…". */
const studioPath = (id: string): string => (id.includes("/") ? pathOf(id) : `models/${pathOf(id)}`);

/** "gemini-…", "maker/model", or a whole path such as "endpoints/…". */
function vertexPath(id: string): string {
  if (/^(?:publishers|endpoints|projects)\//.test(id)) return pathOf(id);
  const slash = id.indexOf("/");
  const [maker, name] = slash < 0 ? ["google", id] : [id.slice(0, slash), id.slice(slash + 1)];
  return `publishers/${pathOf(maker)}/models/${pathOf(name)}`;
}

/** A name may not lead to another address. */
const pathOf = (id: string): string =>
  id
    .split("/")
    .map((step) => (/^\.+$/.test(step) ? "-" : encodeURIComponent(step)))
    .join("/");
