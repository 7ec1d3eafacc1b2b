// Where a Messages request goes, at Vertex or anywhere else, and what it must say there.
import type { ModelRef } from "@clew/plugin-sdk/host";
import type { Endpoint } from "../provider.ts";
import { addressAt } from "../shared/address.ts";
import { bearer } from "../shared/headers.ts";
import { keyHeader } from "../shared/key-header.ts";

/** What differs between the two. */
interface MessagesPlace {
  url: string;
  /** The version and the key. */
  headers: Record<string, string>;
  /** How the body names the version or the model. */
  fields: Readonly<Record<string, string>>;
}

/** Project and location end the address of Vertex, on any host. */
const VERTEX = /\/locations\/[a-z0-9-]+\/?$/;

/** A name may not lead to another address; Vertex puts a date behind "@". */
const nameOf = ({ id }: ModelRef): string => encodeURIComponent(id).replaceAll("%40", "@");

/** Vertex has the model in its address and the version in the body, and wants a token. */
export function placeOf(model: ModelRef, endpoint: Endpoint): MessagesPlace {
  if (model.provider === "anthropic-vertex" || VERTEX.test(endpoint.baseUrl))
    return {
      url: addressAt(endpoint, `publishers/anthropic/models/${nameOf(model)}:streamRawPredict`),
      headers: bearer(endpoint),
      fields: { anthropic_version: "vertex-2023-10-16" },
    };
  return {
    url: addressAt(endpoint, "messages"),
    headers: { "anthropic-version": "2023-06-01", ...keyHeader(model, endpoint, "x-api-key") },
    fields: { model: model.id },
  };
}
