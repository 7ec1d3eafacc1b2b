// Where a request of the door goes on to, and with which of the gateway's own headers.

import type { ModelRef } from "@clew/plugin-sdk/host";
import { buildRequest, type Endpoint } from "@clew/providers";
import { emptyCall } from "../../models/empty-call.ts";
import { queryOnward } from "../../passing/pass-headers.ts";
import type { DoorVisit } from "../call/door-call.ts";
import { readGooglePath } from "../wires/google-path.ts";

export interface UpstreamPlace {
  model: ModelRef;
  endpoint: Endpoint;
}

/**
 * The address of what was asked for at the door, at the model's own server. A path of Google's
 * names the model that is asked.
 */
export function addressOnward(
  place: UpstreamPlace,
  visit: Pick<DoorVisit, "path" | "query">,
  passed: Parameters<typeof queryOnward>[1],
): string {
  const url = new URL(addressOfCalls(place));
  const own = [...url.searchParams].filter(([name]) => name !== "alt");
  const method = readGooglePath(visit.path)?.method;
  if (place.model.api === "google-generative-ai" && method !== undefined)
    url.pathname = url.pathname.replace(/:\w+$/, `:${method}`);
  else url.pathname = rootOf(url.pathname) + restOf(visit.path);
  const asked = queryOnward(visit, passed);
  const query = [asked.slice(1), ...own.map((pair) => pair.map(encodeURIComponent).join("="))];
  const joined = query.filter((part) => part !== "").join("&");
  return url.origin + url.pathname + (joined === "" ? "" : `?${joined}`);
}

const addressOfCalls = ({ model, endpoint }: UpstreamPlace): string =>
  buildRequest(emptyCall(model), endpoint).url;

/** The address of the version, e.g. "/v1". */
const rootOf = (path: string): string =>
  path.replace(/\/(?:chat\/completions|responses|messages|models\/.+:\w+)$/, "");

/** Behind the version of the door. */
const restOf = (path: string): string => path.replace(/^\/v1(?:beta)?(?=\/|$)/, "");
