// What a Gemini server remembers of signatures and prompts.
import { tokensIn } from "../server/bill.ts";
import { canonical, list, record, text } from "../server/json.ts";
import { digest, type PromptCache, type Segment } from "../server/prompt-cache.ts";
import { seal, unseal } from "../server/seal.ts";
import type { Accepted, WireMemory } from "../server/wire.ts";
import type { GeminiView } from "./view.ts";

export interface GeminiAccepted extends Accepted {
  /** Signs what was thought before a part. */
  sign(content: string): string;
}

const API = "google-generative-ai";

/** Documented for calls of other models; they are taken for signed. */
const DUMMIES = new Set([
  "skip_thought_signature_validator",
  "context_engineering_is_the_way_to_go",
]);

export function createMemory(cache: PromptCache): WireMemory<GeminiView, GeminiAccepted> {
  return {
    examine(view, { account }) {
      const corrupt = view.parts.find(({ value: { thoughtSignature: given } }) => {
        const signature = text(given);
        return signature !== "" && !isDummy(signature) && unseal(signature)?.api !== API;
      });
      if (corrupt !== undefined)
        return {
          kind: "refused",
          rule: "signature.corrupt",
          message: "Corrupted thought signature.",
        };
      const scope = `${account} ${view.model}`;
      const prompt = cache.settle(scope, segmentsOf(view), keepsLess(view.model, cache));
      const origin = { api: API, account, model: view.model, prefix: "", previous: null };
      const sign = (content: string) => seal({ ...origin, content: digest(content) });
      return { kind: "accepted", accepted: { prompt, sign } };
    },
  };
}

/** Gemini 3 keeps no prompt that is shorter than twice what those before it keep. */
const keepsLess = (model: string, { minimumTokens }: PromptCache) =>
  /gemini-3/i.test(model) ? { minimumTokens: 2 * minimumTokens } : {};

/** As text, or as the Base64 of it. */
const isDummy = (signature: string) =>
  DUMMIES.has(signature) || DUMMIES.has(Buffer.from(signature, "base64").toString());

const IMAGE_TOKENS = 258;

/** Instructions, tools, then part by part. */
export function segmentsOf({ body, parts }: GeminiView): Segment[] {
  const fixed = [body.systemInstruction ?? "", ...list(body.tools)].map(segment);
  return [
    ...fixed,
    ...parts.map(({ role, value }) => {
      const { thoughtSignature: _signature, ...said } = value;
      const { content, tokens } = segment({ role, ...said });
      return {
        content,
        tokens: record(said.inlineData).data === undefined ? tokens : IMAGE_TOKENS,
      };
    }),
  ];
}

function segment(value: unknown): Segment {
  const content = canonical(value);
  return { content, tokens: tokensIn(content.length) };
}
