// Signs requests to a provider with what its source gives.
import type { ModelCall } from "@clew/plugin-sdk/host";
import { buildRequest, type Endpoint, type RequestSigner } from "@clew/providers";
import { awsSigner } from "@clew/providers/signing";
import type { KeptCredential } from "./keep.ts";

export interface SignInOptions {
  call: ModelCall;
  endpoint: Endpoint;
  kept: KeptCredential;
  /** Of AWS. Default: nothing is signed for AWS. */
  region: string | undefined;
  /** ms since the epoch. */
  now(): number;
}

/** What it throws is one sentence without a secret. */
export function signIn({ call, endpoint, kept, region = "", now }: SignInOptions): RequestSigner {
  return async (request, { signal }) => {
    const credential = await kept.get().catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`Provider "${call.model.provider}" cannot sign in: ${why}.`);
    });
    if (credential.kind === "key") return keyHeaders(call, endpoint, credential.key);
    return awsSigner({ region, keys: async () => credential, now })(request, { signal });
  };
}

/** The headers in which the model's api wants its key: those that appear with one. */
export function keyHeaders(
  call: ModelCall,
  endpoint: Endpoint,
  apiKey: string,
): Record<string, string> {
  const { apiKey: _none, ...unsigned } = endpoint;
  const empty = { ...call, systemPrompt: "", messages: [], tools: [] };
  const without = buildRequest(empty, unsigned).headers;
  const signed = buildRequest(empty, { ...unsigned, apiKey }).headers;
  return Object.fromEntries(
    Object.entries(signed).filter(([name, value]) => without[name] !== value),
  );
}
