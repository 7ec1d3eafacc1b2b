// In which field a Chat server gives reasoning out, and what it wants back.
import { list, objects, record, text } from "../server/json.ts";
import { digest } from "../server/prompt-cache.ts";
import { seal, unseal } from "../server/seal.ts";
import type { Call } from "../server/wire.ts";
import { messages } from "./rules/rule.ts";

export type CarrierKind =
  /** A text beside the content. */
  | "reasoning_content"
  /** The same under another name. */
  | "reasoning"
  /** OpenRouter: a list, signed or encrypted as the maker of the model has it. */
  | "details"
  /** Google: a signature on the first of the calls made at once. */
  | "call_signature";

export interface Carrier {
  kind: CarrierKind;
  /** Of the model's name before the slash, e.g. "anthropic". */
  maker: string;
  sign(words: string): string;
}

const KINDS: Readonly<Record<string, CarrierKind>> = {
  openrouter: "details",
  gemini: "call_signature",
  vllm: "reasoning",
};
const API = "openai-completions";

export function carrierOf(model: string, { flavor = "", account }: Call): Carrier {
  const origin = { api: API, account, model, prefix: "", previous: null };
  return {
    kind: KINDS[flavor] ?? "reasoning_content",
    maker: model.includes("/") ? model.slice(0, model.indexOf("/")) : "",
    sign: (words) => seal({ ...origin, content: digest(words) }),
  };
}

export interface CarrierFault {
  rule: string;
  message: string;
}

/** `given`: by id of a call, the details that it came with. */
export function carrierFault(
  body: Readonly<Record<string, unknown>>,
  { kind, maker }: Carrier,
  given: ReadonlyMap<string, string>,
): CarrierFault | undefined {
  for (const { value, path } of messages(body)) {
    const calls = objects(value.tool_calls, `${path}.tool_calls`);
    const details = list(value.reasoning_details).map(record);
    const forged = details.find(({ type, text: words, signature, data }) =>
      type === "reasoning.encrypted"
        ? !isOurs(text(data))
        : signature != null && !isOurs(text(signature), text(words)),
    );
    if (kind === "details" && forged !== undefined)
      return maker === "google"
        ? { rule: "reasoning_details.corrupt", message: "Corrupted thought signature." }
        : {
            rule: "reasoning_details.signature",
            message: `Provider returned error: ${path}: Invalid \`signature\` in \`thinking\` block`,
          };
    const wanted = calls.map((call) => given.get(text(call.value.id)));
    const isLost =
      maker === "google" &&
      wanted.some((data) => data !== undefined && !details.some((detail) => detail.data === data));
    if (kind === "details" && isLost) return { rule: "reasoning_details.required", message: LOST };
    const signatures = calls.map(({ value: call }) =>
      text(record(record(call.extra_content).google).thought_signature),
    );
    if (kind === "call_signature" && signatures.some((one) => one !== "" && !isOurs(one)))
      return { rule: "signature.corrupt", message: "Corrupted thought signature." };
  }
  return undefined;
}

const LOST =
  "Provider returned error: Gemini models require OpenRouter reasoning details to be preserved in each request.";

const DUMMY = "skip_thought_signature_validator";

/** With `words`: and signs just those. */
function isOurs(signature: string, words?: string): boolean {
  if (signature === DUMMY) return true;
  const sealed = unseal(signature);
  return sealed?.api === API && (words === undefined || sealed.content === digest(words));
}
