// Joins what a call asks and its items into one Responses request.
import type { ModelCall } from "@clew/plugin-sdk/host";
import type { Endpoint, WireRequest } from "../provider.ts";
import { addressAt } from "../shared/address.ts";
import { serverAt } from "../shared/flavor.ts";
import { headersOf } from "../shared/headers.ts";
import { profileFor } from "../shared/profile.ts";
import { wellFormedJson } from "../shared/well-formed.ts";
import { askFields } from "./ask.ts";
import { planCache } from "./cache.ts";
import { writeInput } from "./input.ts";

/** What differs between the servers of this wire. */
export interface ResponsesDialect {
  headers: Readonly<Record<string, string>>;
  /** Instructions and limits. */
  fields: Readonly<Record<string, unknown>>;
  /** False: it decides that itself. */
  takesTemperature: boolean;
}

export function writeRequest(
  call: ModelCall,
  endpoint: Endpoint,
  { headers, fields, takesTemperature }: ResponsesDialect,
): WireRequest {
  const { model, messages, temperature } = call;
  const profile = profileFor(model, endpoint);
  const asked = askFields(call, profile);
  // Other servers of this wire may not know the field.
  const takesContext = (serverAt(endpoint)?.id ?? model.provider) === "openai";
  const cache = planCache(call, profile);
  const stableMessages = cache.marks ? (call.cache?.stableMessages ?? 0) : 0;
  const head = {
    model: model.id,
    ...fields,
    ...asked.fields,
    ...(takesTemperature && !asked.thinks && temperature !== undefined && { temperature }),
    ...cache.fields,
    ...(takesContext &&
      call.serverContext?.compactAbove !== undefined && {
        context_management: [
          { type: "compaction", compact_threshold: call.serverContext.compactAbove },
        ],
      }),
    store: false,
    stream: true,
  };
  return {
    method: "POST",
    url: addressAt(endpoint, "responses"),
    headers: headersOf(endpoint, headers),
    // The items are text already, so that the old ones need not be written again.
    body: `${wellFormedJson(head).slice(0, -1)},"input":[${writeInput(messages, { model, profile, stableMessages })}]}`,
  };
}
