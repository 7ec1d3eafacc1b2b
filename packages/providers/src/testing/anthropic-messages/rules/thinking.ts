// Rules of the Messages wire about thinking, as far as a body alone can break them.
import { isRecord } from "@clew/plugin-sdk/host";
import { first, record, text, words } from "../../server/json.ts";
import { rejects, type WireRule } from "../../server/wire.ts";
import { isThinking, type MessagesView } from "../view.ts";

const KINDS = words("enabled disabled adaptive between_tools");
const CONTROLS = "thinking-binding-controls-2026-08-01";
const LEAST_BUDGET = 1024;

const ofType = ({ blocks }: MessagesView, type: string) =>
  blocks.filter((block) => block.type === type);
const budgetOf = ({ body }: MessagesView) => Number(record(body.thinking).budget_tokens ?? 0);

export const THINKING_RULES: readonly WireRule<MessagesView>[] = [
  rejects("thinking.text", (view) =>
    first(
      ofType(view, "thinking"),
      ({ value }) => typeof value.thinking !== "string",
      ({ path }) => `${path}.thinking.thinking: Field required`,
    ),
  ),
  rejects("thinking.signature", (view) =>
    first(
      ofType(view, "thinking"),
      ({ value }) => typeof value.signature !== "string",
      ({ path }) => `${path}.thinking.signature: Field required`,
    ),
  ),
  rejects("thinking.signature_blank", (view) =>
    first(
      ofType(view, "thinking"),
      ({ value }) => typeof value.signature === "string" && text(value.signature).trim() === "",
      ({ path }) => `${path}: Invalid \`signature\` in \`thinking\` block`,
    ),
  ),
  rejects("redacted.data", (view) =>
    first(
      ofType(view, "redacted_thinking"),
      ({ value }) => text(value.data) === "",
      ({ path }) => `${path}.redacted_thinking.data: Field required`,
    ),
  ),
  rejects("thinking.must_lead", doesNotLead),
  rejects("thinking.must_not_end", ({ messages }) =>
    first(
      messages,
      ({ role, blocks }) => role === "assistant" && blocks.length > 0 && isThinking(blocks.at(-1)!),
      ({ path }) => `${path}: The final block in an assistant message cannot be \`thinking\`.`,
    ),
  ),
  rejects("thinking.type", ({ body, thinking }) =>
    body.thinking !== undefined && !KINDS.has(thinking ?? "")
      ? `thinking: Input tag '${thinking ?? ""}' found using 'type' does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'`
      : undefined,
  ),
  rejects("thinking.budget_min", (view) =>
    view.thinking === "enabled" && budgetOf(view) < LEAST_BUDGET
      ? `thinking.enabled.budget_tokens: Input should be greater than or equal to ${LEAST_BUDGET}`
      : undefined,
  ),
  rejects("thinking.budget_max", (view) =>
    view.thinking === "enabled" && budgetOf(view) >= Number(view.body.max_tokens)
      ? "`max_tokens` must be greater than `thinking.budget_tokens`"
      : undefined,
  ),
  rejects("thinking.model", ({ thinking, traits }) => {
    if (thinking === "enabled" && traits.adaptiveOnly)
      return '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
    if (thinking === "disabled" && traits.alwaysThinks)
      return '"thinking.type.disabled" is not supported for this model.';
    return undefined;
  }),
  rejects("thinking.temperature", ({ thinking, body: { temperature } }) =>
    (thinking === "enabled" || thinking === "adaptive") &&
    temperature !== undefined &&
    temperature !== 1
      ? "`temperature` may only be set to 1 when thinking is enabled."
      : undefined,
  ),
  rejects("thinking.block_binding", ({ body, betas, thinking }) =>
    isRecord(record(body.thinking).block_binding) &&
    (!betas.has(CONTROLS) || thinking === "disabled")
      ? `thinking.block_binding: needs the beta ${CONTROLS} and thinking that is not disabled`
      : undefined,
  ),
];

/** With a budget, the turn that asked for the last results must begin with its thinking. */
function doesNotLead({ messages, thinking }: MessagesView): string | undefined {
  const asking = messages.at(-2);
  const answering = messages.at(-1)?.blocks.some(({ type }) => type === "tool_result") ?? false;
  const begins = asking?.blocks[0];
  if (thinking !== "enabled" || !answering || asking?.role !== "assistant" || begins === undefined)
    return undefined;
  return isThinking(begins)
    ? undefined
    : `${asking.path}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${begins.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`;
}
