// Asks a model one plain question outside any session, to see whether it answers.
import type { ModelCall, ModelError } from "@clew/plugin-sdk/host";
import { completeModel } from "@clew/providers";
import type { AccessEnvironment } from "../credentials/find.ts";
import { keepCredential } from "../credentials/keep.ts";
import { keepText } from "../credentials/keep-text.ts";
import { signIn } from "../credentials/sign-in.ts";
import type { ResolvedModel } from "./resolve.ts";

/** Some reason before they greet. */
const MOST_TOKENS = 200;

/** Null: it answered. */
export async function askOnce(
  { model, endpoint, access: { source, region } }: ResolvedModel,
  { readText, signal }: Pick<AccessEnvironment, "readText"> & { signal: AbortSignal },
): Promise<ModelError | null> {
  const call: ModelCall = {
    ...{ model, systemPrompt: "Be brief.", messages: [{ role: "user", content: "Say hello." }] },
    ...{ tools: [], maxOutputTokens: MOST_TOKENS, maxRetries: 0, signal },
  };
  const now = Date.now;
  const { fetch } = globalThis;
  const kept = source && keepCredential(source, { fetch, now, readText, keepText });
  const sign = kept && signIn({ call, endpoint, kept, region, now });
  const result = await completeModel({ call, endpoint, fetch, ...(sign && { sign }) });
  return result.ok ? null : result.error;
}
