// Rules of the Messages wire about messages, their order, and what a block may hold.
import { first, list, record, text, words } from "../../server/json.ts";
import { compat, rejects, type WireRule } from "../../server/wire.ts";
import type { Block, MessageAt, MessagesView } from "../view.ts";

/** Fields of the blocks that clients write; of the others nothing is known to be refused. */
const FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: words("type text cache_control citations"),
  image: words("type source cache_control"),
  thinking: words("type thinking signature cache_control"),
  redacted_thinking: words("type data cache_control"),
  tool_use: words("type id name input cache_control caller toolset_name"),
  tool_result: words("type tool_use_id content is_error cache_control toolset_name"),
};
const BY_USERS = words("text image document search_result tool_result container_upload");
const BY_MODELS = words(
  `text thinking redacted_thinking tool_use server_tool_use web_search_tool_result
  web_fetch_tool_result code_execution_tool_result bash_code_execution_tool_result
  text_editor_code_execution_tool_result tool_search_tool_result mcp_tool_use mcp_tool_result
  compaction fallback container_upload`,
);
const BY_ROLE: Readonly<Record<string, ReadonlySet<string>>> = {
  user: BY_USERS,
  assistant: BY_MODELS,
  system: words("text"),
};
const ROLES = words("user assistant system");

const isEmpty = ({ value: { content } }: MessageAt) =>
  content === "" || (Array.isArray(content) && content.length === 0);

export const MESSAGE_RULES: readonly WireRule<MessagesView>[] = [
  rejects("role.invalid", ({ messages }) =>
    first(
      messages,
      ({ role }) => !ROLES.has(role),
      ({ path }) => `${path}.role: Input should be 'user' or 'assistant'`,
    ),
  ),
  rejects("role.system", ({ messages, traits }) =>
    first(
      messages,
      ({ role }) => role === "system" && !traits.takesSystemMessages,
      () =>
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    ),
  ),
  rejects("system.placement", misplacedSystem),
  rejects("first.user", ({ messages: [message] }) =>
    message?.role === "assistant" ? 'messages: first message must use the "user" role' : undefined,
  ),
  compat("roles.alternate", ({ messages, traits }) =>
    // A prefix that is bound may not be merged by anybody.
    traits.bindsPrefix
      ? undefined
      : first(
          messages.slice(1),
          ({ role, index }) => role !== "system" && messages[index - 1]?.role === role,
          () => 'messages: roles must alternate between "user" and "assistant"',
        ),
  ),
  rejects("message.extra", ({ messages }) =>
    first(
      messages.flatMap(({ value, path }) => Object.keys(value).map((key) => ({ key, path }))),
      ({ key }) => key !== "role" && key !== "content",
      ({ key, path }) => `${path}.${key}: Extra inputs are not permitted`,
    ),
  ),
  rejects("content.type", ({ messages }) =>
    first(
      messages,
      ({ value: { content }, blocks }) =>
        typeof content !== "string" &&
        (!Array.isArray(content) || list(content).length !== blocks.length),
      ({ path }) => `${path}.content: Input should be a valid list`,
    ),
  ),
  rejects("content.empty", ({ messages }) =>
    first(
      messages,
      (message) =>
        isEmpty(message) &&
        !(message.role === "assistant" && message.index === messages.length - 1),
      ({ path }) =>
        `${path}: all messages must have non-empty content except for the optional final assistant message`,
    ),
  ),
  rejects("block.type", ({ blocks }) =>
    first(
      blocks,
      ({ type }) => !BY_USERS.has(type) && !BY_MODELS.has(type),
      ({ path, type }) =>
        `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags`,
    ),
  ),
  rejects("block.extra", ({ blocks }) =>
    first(
      blocks.flatMap((block) => Object.keys(block.value).map((key) => ({ key, block }))),
      ({ key, block }) => FIELDS[block.type]?.has(key) === false,
      ({ key, block }) => `${block.path}.${block.type}.${key}: Extra inputs are not permitted`,
    ),
  ),
  rejects("block.role", ({ blocks }) =>
    first(
      blocks,
      ({ type, role }) =>
        (BY_USERS.has(type) || BY_MODELS.has(type)) && BY_ROLE[role]?.has(type) === false,
      ({ turn, type, role }) =>
        `messages.${turn}: \`${type}\` blocks can only be in \`${role === "user" ? "assistant" : "user"}\` messages`,
    ),
  ),
  rejects("text.type", ({ blocks }) =>
    first(
      blocks,
      ({ type, value }) => type === "text" && typeof value.text !== "string",
      ({ path }) => `${path}.text.text: Input should be a valid string`,
    ),
  ),
  rejects("text.empty", ({ blocks }) =>
    first(blocks, hasText(/^$/), () => "messages: text content blocks must be non-empty"),
  ),
  rejects(
    "text.whitespace",
    ({ blocks, messages }) =>
      first(blocks, hasText(/^\s+$/), blankText) ??
      first(messages, ({ value }) => /^\s+$/.test(text(value.content)), blankText),
  ),
  rejects("prefill.thinking", (view) =>
    isPrefilled(view) &&
    view.traits.takesPrefill &&
    (view.thinking === "enabled" || view.thinking === "adaptive")
      ? "messages: assistant prefill cannot be used with thinking enabled"
      : undefined,
  ),
  rejects("prefill.model", (view) =>
    isPrefilled(view) && !view.traits.takesPrefill
      ? "This model does not support assistant message prefill. The conversation must end with a user message."
      : undefined,
  ),
  rejects("prefill.whitespace", ({ messages }) => {
    const last = messages.at(-1);
    const words = text(last?.value.content) || text(record(last?.blocks.at(-1)?.value).text);
    return last?.role === "assistant" && /\S\s+$/.test(words)
      ? "messages: final assistant content cannot end with trailing whitespace"
      : undefined;
  }),
];

const hasText = (pattern: RegExp) => (block: Block) =>
  block.type === "text" && typeof block.value.text === "string" && pattern.test(block.value.text);

const blankText = () => "messages: text content blocks must contain non-whitespace text";

/** An unanswered call at the end is broken in another way. */
const isPrefilled = ({ messages }: MessagesView) => {
  const last = messages.at(-1);
  return last?.role === "assistant" && !last.blocks.some(({ type }) => type === "tool_use");
};

function misplacedSystem({ messages, traits }: MessagesView): string | undefined {
  if (!traits.takesSystemMessages) return undefined;
  for (const { role, index, path } of messages) {
    if (role !== "system") continue;
    const before = messages[index - 1]?.role;
    const after = messages[index + 1]?.role;
    if (before === undefined) return `${path}: role 'system' must not be first`;
    if (before === "system") return `${path}: role 'system' must not be consecutive`;
    if (before !== "user") return `${path}: role 'system' must follow a 'user' message`;
    if (after !== undefined && after !== "assistant" && after !== "system")
      return `${path}: role 'system' must precede an 'assistant' message or end the array`;
  }
  return undefined;
}
