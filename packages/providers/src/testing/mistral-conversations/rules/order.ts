// Rules of the Mistral wire about the order of messages, and about calls and their results.
import { type At, first, repeated, text, words } from "../../server/json.ts";
import { compat, rejects, type WireRule } from "../../server/wire.ts";
import { functionOf, isEmpty, type MessageAt, type MistralView } from "../view.ts";

/** Who may speak after whom. */
const AFTER: Readonly<Record<string, ReadonlySet<string>>> = {
  system: words("system user assistant"),
  user: words("system user assistant"),
  assistant: words("assistant user tool"),
  tool: words("assistant tool"),
};
const WORD = /^[a-zA-Z0-9_-]{1,64}$/;
const ID = /^[a-zA-Z0-9]{9}$/;
const idOf = ({ value }: At) => text(value.id);
const badName = (name: unknown) =>
  `Function name was ${text(name)} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`;

export const ORDER_RULES: readonly WireRule<MistralView>[] = [
  rejects("single.start", ({ messages: [message] }) =>
    message !== undefined && (message.role === "assistant" || message.role === "tool")
      ? "Conversation must start with a user message or system message"
      : undefined,
  ),
  rejects("order", ({ messages, takesUserAfterTool }) => {
    for (const { role, index } of messages.slice(1)) {
      const before = messages[index - 1]!.role;
      const isTaken = takesUserAfterTool && before === "tool" && role === "user";
      if (role in AFTER && AFTER[before]?.has(role) === false && !isTaken)
        return `Unexpected role '${role}' after role '${before}'`;
    }
    return undefined;
  }),
  rejects("last", ({ messages }) => {
    const last = messages.at(-1);
    const isOpen = last?.role === "assistant" && last.value.prefix !== true;
    return isOpen || last?.role === "system"
      ? `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${last.role}`
      : undefined;
  }),
  rejects("prefix.last", ({ messages }) =>
    first(
      messages.slice(0, -1),
      ({ value }) => value.prefix === true,
      () => "Assistant message with prefix True must be last message",
    ),
  ),
  rejects("assistant.empty", ({ messages }) =>
    first(
      messages,
      (message) => message.role === "assistant" && isEmpty(message) && message.calls.length === 0,
      () => "Assistant message must have either content or tool_calls, but not none.",
    ),
  ),
  compat("assistant.both", ({ messages }) =>
    first(
      messages,
      (message) => message.role === "assistant" && !isEmpty(message) && message.calls.length > 0,
      () => "Assistant message must have either content or tool_calls, but not both.",
    ),
  ),
  compat("thinking.split", ({ messages }) =>
    first(
      messages,
      ({ chunks, role }) =>
        role === "assistant" && chunks.filter(({ value }) => value.type === "thinking").length > 1,
      ({ path }) => `${path} has more than one thinking chunk`,
    ),
  ),
  rejects("system.content", ({ messages }) =>
    first(
      messages,
      (message) => message.role === "system" && isEmpty(message),
      () => "System prompt must have content",
    ),
  ),
];

export const CALL_RULES: readonly WireRule<MistralView>[] = [
  rejects("tool_call.id_required", ({ calls }) =>
    first(
      calls,
      (call) => idOf(call) === "" || idOf(call) === "null",
      () => "Tool call id has to be defined.",
    ),
  ),
  rejects("tool_call.id", ({ calls, messages }) =>
    first(
      [...calls.map(idOf), ...messages.map(({ value }) => text(value.tool_call_id))],
      (id) => id !== "" && !ID.test(id),
      (id) => `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`,
    ),
  ),
  rejects("tool_call.duplicate", ({ messages }) =>
    first(
      messages.map(({ calls }) => repeated(calls.map(idOf))),
      (id) => id !== undefined,
      (id) => `Duplicate tool call id ${id} in assistant message`,
    ),
  ),
  rejects("counts", (view) => pairing(view).counts),
  rejects("tool.duplicate", (view) => pairing(view).duplicate),
  rejects("tool.unexpected", (view) => pairing(view).unexpected),
  rejects("function.name", ({ calls }) =>
    first(
      calls,
      (call) => !WORD.test(text(functionOf(call).name)),
      (call) => badName(functionOf(call).name),
    ),
  ),
  rejects("tools.name", ({ tools }) =>
    first(
      tools,
      (tool) => tool.value.type === "function" && !WORD.test(text(functionOf(tool).name)),
      (tool) => badName(functionOf(tool).name),
    ),
  ),
];

interface Pairing {
  counts?: string;
  duplicate?: string;
  unexpected?: string;
}

/** Follows each message with calls through the results right after it. */
function pairing({ messages }: MistralView): Pairing {
  const problems: Pairing = {};
  for (const asking of messages) {
    if (asking.role === "tool") continue;
    const ids = answersTo(asking, messages).map(({ value }) => text(value.tool_call_id));
    const asked = new Set(asking.calls.map(idOf));
    const twice = repeated(ids);
    const stray = ids.find((id) => !asked.has(id));
    if (twice !== undefined)
      problems.duplicate ??= `Duplicate tool call id ${twice} in tool results`;
    else if (stray !== undefined)
      problems.unexpected ??= `Unexpected tool call id ${stray} in tool results`;
    else if (ids.length !== asking.calls.length)
      problems.counts ??= "Not the same number of function calls and responses";
  }
  return problems;
}

function answersTo({ index }: MessageAt, messages: readonly MessageAt[]): readonly MessageAt[] {
  const end = messages.findIndex((message) => message.index > index && message.role !== "tool");
  return messages.slice(index + 1, end < 0 ? messages.length : end);
}
