// Rules of the Messages wire about the body as a whole.
import { first, hasLoneSurrogate, record, text, words } from "../../server/json.ts";
import { rejects, type WireRule } from "../../server/wire.ts";
import type { MessagesView } from "../view.ts";

const TOP_LEVEL = words(
  `model messages max_tokens system tools tool_choice thinking temperature top_p top_k stop_sequences
  stream metadata service_tier cache_control container context_management diagnostics inference_geo
  mcp_servers output_config output_format speed user_profile_id workspace_id billing_policy compaction
  fallbacks fallback_credit_token thread anthropic_version anthropic_beta`,
);
const MESSAGE_LIMIT = 100_000;
const BYTES_LIMIT = 32 * 2 ** 20;

export const SHAPE_RULES: readonly WireRule<MessagesView>[] = [
  rejects(
    "size",
    ({ bytes }) => (bytes > BYTES_LIMIT ? "Request exceeds the maximum size" : undefined),
    { status: 413 },
  ),
  rejects("model.required", ({ model }) => (model === "" ? "model: Field required" : undefined)),
  rejects("max_tokens.required", ({ body }) =>
    body.max_tokens === undefined ? "max_tokens: Field required" : undefined,
  ),
  rejects("max_tokens.range", ({ body: { max_tokens: most } }) =>
    most !== undefined && !(Number.isInteger(most) && Number(most) >= 0)
      ? "max_tokens: Input should be greater than or equal to 0"
      : undefined,
  ),
  rejects("messages.required", ({ body }) =>
    Array.isArray(body.messages) ? undefined : "messages: Field required",
  ),
  rejects("messages.empty", ({ body: { messages } }) =>
    Array.isArray(messages) && messages.length === 0
      ? "messages: at least one message is required"
      : undefined,
  ),
  rejects("messages.limit", ({ messages }) =>
    messages.length > MESSAGE_LIMIT ? "messages: at most 100000 messages are allowed" : undefined,
  ),
  rejects("toplevel.extra", ({ body }) =>
    first(
      Object.keys(body),
      (key) => !TOP_LEVEL.has(key),
      (key) => `${key}: Extra inputs are not permitted`,
    ),
  ),
  rejects("system.content", systemFault),
  rejects("temperature.range", ({ body: { temperature } }) =>
    temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 1)
      ? "temperature: range: 0..1"
      : undefined,
  ),
  rejects("unicode.surrogate", ({ body }) =>
    hasLoneSurrogate(body)
      ? "The request body is not valid JSON: no low surrogate in string"
      : undefined,
  ),
];

function systemFault({ body, system }: MessagesView): string | undefined {
  if (body.system === undefined || typeof body.system === "string") return undefined;
  if (!Array.isArray(body.system) || system.length < body.system.length)
    return "system: Input should be a valid string or list of text blocks";
  return first(
    system,
    ({ value }) => value.type !== "text" || text(record(value).text) === "",
    () => "system: text content blocks must be non-empty",
  );
}
