// Rules of the Messages wire about tool calls and their results.
import { isRecord } from "@clew/plugin-sdk/host";
import { dotted, first, list, record, repeated, text, words } from "../../server/json.ts";
import { compat, rejects, type WireRule } from "../../server/wire.ts";
import type { Block, MessageAt, MessagesView } from "../view.ts";

const IN_RESULTS = words("text image document search_result tool_reference browser_state");
const ofType = ({ blocks }: MessagesView, type: string) =>
  blocks.filter((block) => block.type === type);
const uses = (view: MessagesView) => ofType(view, "tool_use");
const results = (view: MessagesView) => ofType(view, "tool_result");
const isError = ({ value }: Block) => value.is_error === true;
const partsOf = ({ value }: Block) => dotted(value.content, "");

export const TOOL_USE_RULES: readonly WireRule<MessagesView>[] = [
  rejects("tool_use.id", (view) =>
    first(
      uses(view),
      ({ value }) => !/^[a-zA-Z0-9_-]+$/.test(text(value.id)),
      ({ path }) => `${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`,
    ),
  ),
  compat("tool_use.id_length", (view) =>
    first(
      uses(view),
      ({ value }) => text(value.id).length > 64,
      ({ path }) => `${path}.tool_use.id: String should have at most 64 characters`,
    ),
  ),
  rejects("tool_use.name", (view) =>
    first(
      uses(view),
      ({ value }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(text(value.name)),
      ({ path }) => `${path}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
    ),
  ),
  rejects("tool_use.input", (view) =>
    first(
      uses(view),
      ({ value }) => !isRecord(value.input),
      ({ path }) => `${path}.tool_use.input: Input should be a valid dictionary`,
    ),
  ),
  rejects("tool_use.unique", (view) => {
    const twice = repeated(uses(view).map(({ value }) => text(value.id)));
    return first(
      uses(view),
      ({ value }) => value.id === twice,
      ({ path }) => `${path}: \`tool_use\` ids must be unique`,
    );
  }),
  rejects("tool_use.unanswered", (view) => pairing(view).unanswered),
  rejects("tool_result.orphan", (view) => pairing(view).orphan),
  rejects("tool_result.duplicate", (view) => pairing(view).duplicate),
  rejects("tool_result.not_first", (view) => pairing(view).notFirst),
  compat("tool_result.split", (view) => pairing(view).split),
  rejects("tool_result.id_required", (view) =>
    first(
      results(view),
      ({ value }) => text(value.tool_use_id) === "",
      ({ path }) => `${path}.tool_result.tool_use_id: Field required`,
    ),
  ),
  rejects("tool_result.content", (view) =>
    first(
      results(view),
      (block) =>
        partsOf(block).some(({ value }) => !IN_RESULTS.has(text(value.type))) ||
        (block.value.content !== undefined &&
          typeof block.value.content !== "string" &&
          list(block.value.content).length !== partsOf(block).length) ||
        isRecord(block.value.content),
      ({ path }) =>
        `${path}.tool_result.content: Input does not match any of the expected tags: ${[...IN_RESULTS].join(", ")}`,
    ),
  ),
  rejects("tool_result.error_text_only", (view) =>
    first(
      results(view),
      (block) => isError(block) && partsOf(block).some(({ value }) => value.type !== "text"),
      ({ path }) =>
        `${path}.tool_result: all content must be type \`text\` if \`is_error\` is true`,
    ),
  ),
  rejects("tool_result.error_empty", (view) =>
    first(
      results(view),
      (block) =>
        isError(block) &&
        (block.value.content === undefined ||
          block.value.content === "" ||
          (Array.isArray(block.value.content) && block.value.content.length === 0)),
      ({ path }) => `${path}.tool_result: content cannot be empty if \`is_error\` is true`,
    ),
  ),
];

interface Pairing {
  unanswered?: string;
  orphan?: string;
  duplicate?: string;
  notFirst?: string;
  split?: string;
}

/** The provider merges turns of one role; only then does it look for results. */
function pairing({ messages }: MessagesView): Pairing {
  const problems: Pairing = {};
  const turns = mergedTurns(messages);
  for (const [position, turn] of turns.entries()) {
    if (turn.role === "assistant") continue;
    const asked = idsOf(turns[position - 1]?.messages ?? [], "tool_use", "id");
    lookAt(turn, new Set(asked), problems);
  }
  for (const [position, turn] of turns.entries()) {
    const answers = new Set(
      idsOf(turns[position + 1]?.messages ?? [], "tool_result", "tool_use_id"),
    );
    const open = idsOf(turn.messages, "tool_use", "id").filter((id) => !answers.has(id));
    if (turn.role === "assistant" && open.length > 0)
      problems.unanswered ??= withoutResults(turn.messages.at(-1)!.index, open);
  }
  return problems;
}

function lookAt(turn: Turn, asked: ReadonlySet<string>, problems: Pairing): void {
  const seen = new Set<string>();
  let afterOthers = false;
  const homes = new Set<number>();
  for (const block of turn.messages.flatMap(({ blocks, value, index, path, role }) =>
    typeof value.content === "string" ? [textOf({ index, path, role })] : blocks,
  )) {
    if (block.type !== "tool_result") {
      afterOthers = true;
      continue;
    }
    const id = text(block.value.tool_use_id);
    homes.add(block.turn);
    if (!asked.has(id))
      problems.orphan ??= `${block.path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    else if (seen.has(id))
      problems.duplicate ??= `${block.path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`;
    else if (afterOthers) problems.notFirst ??= withoutResults(block.turn - 1, [id]);
    seen.add(id);
  }
  if (homes.size > 1)
    problems.split ??= `messages.${[...homes][1]}: the results of one turn are split over several messages`;
}

const textOf = ({ index, path, role }: Pick<MessageAt, "index" | "path" | "role">): Block => ({
  value: {},
  path,
  type: "text",
  role,
  turn: index,
  index: 0,
  isLast: true,
});

const withoutResults = (turn: number, ids: readonly string[]) =>
  `messages.${turn}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;

interface Turn {
  role: string;
  messages: MessageAt[];
}

function mergedTurns(messages: readonly MessageAt[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.role === message.role) last.messages.push(message);
    else turns.push({ role: message.role, messages: [message] });
  }
  return turns;
}

const idsOf = (messages: readonly MessageAt[], type: string, key: string): string[] =>
  messages.flatMap(({ blocks }) =>
    blocks.filter((block) => block.type === type).map(({ value }) => text(record(value)[key])),
  );
