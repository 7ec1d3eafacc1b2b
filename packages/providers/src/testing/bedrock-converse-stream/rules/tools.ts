// Rules of the Converse wire about tool calls and their results.
import { isRecord } from "@clew/plugin-sdk/host";
import { dotted, first, list, record, repeated, text, words } from "../../server/json.ts";
import { compat, rejects, type WireRule } from "../../server/wire.ts";
import { type Block, type ConverseView, having, heldBy, type MessageAt } from "../view.ts";

const WORD = /^[a-zA-Z0-9_-]{1,64}$/;
const IN_RESULTS = words("json text image document video searchResult");

const uses = ({ blocks }: ConverseView) => having(blocks, "toolUse");
const results = ({ blocks }: ConverseView) => having(blocks, "toolResult");
const use = (block: Block) => heldBy(block, "toolUse");
const result = (block: Block) => heldBy(block, "toolResult");
const contentOf = (block: Block) => list(result(block).content);
const isError = (block: Block) => result(block).status === "error";
const usesIn = ({ blocks }: MessageAt) =>
  having(blocks, "toolUse").map((block) => text(use(block).toolUseId));
const resultsIn = ({ blocks }: MessageAt) =>
  having(blocks, "toolResult").map((block) => text(result(block).toolUseId));
const constraint = ({ turn, index }: Block, value: unknown, field: string) =>
  `Value '${text(value)}' at 'messages.${turn}.member.content.${index}.member.toolUse.${field}' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+ and have length between 1 and 64`;

export const TOOL_RULES: readonly WireRule<ConverseView>[] = [
  rejects("toolUse.id", (view) =>
    first(
      uses(view),
      (block) => !WORD.test(text(use(block).toolUseId)),
      (block) => constraint(block, use(block).toolUseId, "toolUseId"),
    ),
  ),
  rejects("toolUse.name", (view) =>
    first(
      uses(view),
      (block) => !WORD.test(text(use(block).name)),
      (block) => constraint(block, use(block).name, "name"),
    ),
  ),
  rejects("toolUse.input", (view) =>
    first(
      uses(view),
      (block) => !isRecord(use(block).input),
      ({ path }) =>
        `The format of the value at ${path}.toolUse.input is invalid. Provide a json object for the field and try again.`,
    ),
  ),
  rejects("toolUse.duplicate", ({ messages }) =>
    first(
      messages,
      (message) => repeated(usesIn(message)) !== undefined,
      (message) =>
        `The toolUse blocks at ${message.path}.content contain duplicate Ids: ${repeated(usesIn(message))}`,
    ),
  ),
  rejects("toolUse.unanswered", ({ messages }) => {
    for (const message of messages) {
      const next = messages[message.index + 1];
      const answered = new Set(next === undefined ? [] : resultsIn(next));
      const open = usesIn(message).filter((id) => !answered.has(id));
      if (open.length > 0)
        return `Expected toolResult blocks at messages.${message.index + 1}.content for the following Ids: ${open.join(", ")}`;
    }
    return undefined;
  }),
  rejects("toolResult.extra", ({ messages }) =>
    first(
      messages,
      (message) => {
        const before = messages[message.index - 1];
        const asked = new Set(before === undefined ? [] : usesIn(before));
        return resultsIn(message).some((id) => !asked.has(id));
      },
      ({ path }) =>
        `The number of toolResult blocks at ${path}.content exceeds the number of toolUse blocks of previous turn.`,
    ),
  ),
  rejects("toolResult.duplicate", ({ messages }) =>
    first(
      messages,
      (message) => repeated(resultsIn(message)) !== undefined,
      (message) =>
        `The toolResult blocks at ${message.path}.content contain duplicate Ids: ${repeated(resultsIn(message))}`,
    ),
  ),
  rejects("toolResult.error_empty", (view) =>
    first(
      results(view),
      (block) => isError(block) && contentOf(block).length === 0,
      ({ path }) =>
        `The content field at ${path}.toolResult cannot be empty when status value is error.`,
    ),
  ),
  rejects("toolResult.content", (view) =>
    first(
      results(view),
      (block) =>
        !Array.isArray(result(block).content) ||
        contentOf(block).some((part) => {
          const members = Object.keys(record(part));
          return members.length !== 1 || !IN_RESULTS.has(members[0]!);
        }),
      ({ path }) =>
        `Value at '${path}.member.toolResult.content' failed to satisfy constraint: a list of json, text, image, document, video or searchResult`,
    ),
  ),
  compat("toolResult.empty", (view) =>
    first(
      results(view),
      (block) =>
        Array.isArray(result(block).content) && contentOf(block).length === 0 && !isError(block),
      ({ path }) => `${path}.toolResult.content is an empty list`,
    ),
  ),
  rejects("toolResult.error_text_only", (view) =>
    view.isClaude
      ? first(
          results(view),
          (block) =>
            isError(block) &&
            dotted(contentOf(block), "").some(
              ({ value }) => !("text" in value) && !("json" in value),
            ),
          ({ path }) =>
            `The model returned the following errors: ${path}.tool_result: all content must be type \`text\` if \`is_error\` is true`,
        )
      : undefined,
  ),
  compat("mixed.turn", ({ messages, isClaude }) =>
    isClaude
      ? undefined
      : first(
          messages,
          ({ blocks }) =>
            having(blocks, "toolResult").length > 0 &&
            blocks.some(({ value }) => !("toolResult" in value) && !("cachePoint" in value)),
          ({ path }) =>
            `${path}.content: Conversation blocks and tool result blocks cannot be provided in the same turn.`,
        ),
  ),
  rejects("document.empty_key", (view) =>
    first(
      uses(view),
      (block) => hasEmptyKey(use(block).input),
      ({ path }) => `${path}.toolUse.input: a key of an object is empty.`,
    ),
  ),
];

function hasEmptyKey(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasEmptyKey);
  return (
    isRecord(value) && Object.entries(value).some(([key, item]) => key === "" || hasEmptyKey(item))
  );
}
