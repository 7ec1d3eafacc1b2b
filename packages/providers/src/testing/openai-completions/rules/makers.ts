// Rules of servers that pass Chat Completions on to other makers' models.

import { modelTraits } from "../../anthropic-messages/models.ts";
import { first, isBase64, list, objects, parseObject, record, text } from "../../server/json.ts";
import { rejects } from "../../server/wire.ts";
import { type ChatRule, functionOf, messages, parts, toolCalls } from "./rule.ts";

const ROUTED = { flavors: ["openrouter"] };
const MINIMAX = { flavors: ["minimax"] };
const GEMINI = { flavors: ["gemini"] };
const routed = "Provider returned error: ";
const isOf = (maker: string, model: unknown) => text(model).startsWith(`${maker}/`);

export const MAKER_RULES: readonly ChatRule[] = [
  rejects(
    "anthropic.prefill",
    (body) => {
      const endsOpen = messages(body).at(-1)?.value.role === "assistant";
      const isThinking = body.reasoning != null || !modelTraits(text(body.model)).takesPrefill;
      return isOf("anthropic", body.model) && endsOpen && isThinking
        ? `${routed}This model does not support assistant message prefill. The conversation must end with a user message.`
        : undefined;
    },
    ROUTED,
  ),
  rejects(
    "anthropic.tool_id",
    (body) =>
      isOf("anthropic", body.model)
        ? first(
            toolCalls(body),
            ({ value }) => !/^[a-zA-Z0-9_-]+$/.test(text(value.id)),
            () => `${routed}tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`,
          )
        : undefined,
    ROUTED,
  ),
  rejects(
    "anthropic.cache_max",
    (body) =>
      isOf("anthropic", body.model) &&
      parts(body).filter(({ value }) => value.cache_control != null).length > 4
        ? `${routed}A maximum of 4 blocks with cache_control may be provided.`
        : undefined,
    ROUTED,
  ),
  rejects(
    "gemini.signature_base64",
    (body) =>
      isOf("google", body.model)
        ? first(
            messages(body).flatMap(({ value, path }) =>
              objects(value.reasoning_details, `${path}.reasoning_details`),
            ),
            ({ value }) => value.type === "reasoning.encrypted" && !isBase64(text(value.data)),
            () =>
              `${routed}Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed`,
          )
        : undefined,
    ROUTED,
  ),
  rejects(
    "mistral.tool_id",
    (body) =>
      isOf("mistralai", body.model)
        ? first(
            toolCalls(body),
            ({ value }) => !/^[a-zA-Z0-9]{9}$/.test(text(value.id)),
            ({ value }) =>
              `${routed}Tool call id was ${text(value.id)} but must be a-z, A-Z, 0-9, with a length of 9.`,
          )
        : undefined,
    ROUTED,
  ),
  rejects(
    "minimax.tools.parameters",
    (body) =>
      first(
        objects(body.tools, "tools"),
        (tool) => Object.keys(record(functionOf(tool).parameters)).length === 0,
        () => "invalid params, function parameters is empty (2013)",
      ),
    MINIMAX,
  ),
  rejects(
    "minimax.arguments.json",
    (body) =>
      first(
        toolCalls(body),
        (call) => parseObject(text(functionOf(call).arguments)) === undefined,
        ({ value }) =>
          `invalid params, invalid function arguments json string, tool_call_id: ${text(value.id)} (2013)`,
      ),
    MINIMAX,
  ),
  rejects("gemini.signature_required", unsignedCall, GEMINI),
];

/** The first call of each step since the person last spoke must bring its signature. */
function unsignedCall(body: Readonly<Record<string, unknown>>): string | undefined {
  if (!/gemini-[3-9]/.test(text(body.model))) return undefined;
  const all = messages(body);
  const begins = all.findLastIndex(({ value }) => value.role === "user");
  return first(
    all.slice(begins + 1).flatMap(({ value }) => list(value.tool_calls).slice(0, 1).map(record)),
    (call) => text(record(record(call.extra_content).google).thought_signature) === "",
    (call) =>
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call \`default_api:${text(record(call.function).name)}\`.`,
  );
}
