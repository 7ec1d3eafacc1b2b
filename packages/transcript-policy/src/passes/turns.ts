// Which turns may stand next to each other: who comes first, what merges, and which calls no result follows.
import { type Clock, definePass, mapChanged, type Report } from "../pass.ts";
import {
  blocksOf,
  fieldOf,
  hasFailed,
  isThinking,
  isToolCallLike,
  nonBlank,
  RESULT_ID_FIELDS,
  resultId,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  textBlock,
  typeOf,
} from "../stored.ts";
import { TEXTS } from "../texts.ts";

/** Puts a user turn in front of a history that starts with an assistant (rule R13). */
export const bootstrapFirstTurn = definePass<{ clock?: Clock }>("bootstrap-turn", (messages, { clock = Date }, report) => {
  if (roleOf(messages[0]) !== "assistant") return messages;
  report("inserted", 0, "a history that started with an assistant");
  return [{ role: "user", content: TEXTS.googleBootstrap, timestamp: clock.now() }, ...messages];
});

/** Merges assistant messages that follow each other (rule R14). */
export const validateGeminiTurns = definePass("merge-assistants", (messages, _options, report) =>
  mergeNeighbours(messages, "assistant", mergeAssistants, report),
);

/** Merges assistants, removes calls no result follows before the next assistant, then merges users (rule R15). */
export const validateAnthropicTurns = definePass("validate-turns", (messages, _options, report) => {
  const merged = mergeNeighbours(messages, "assistant", mergeAssistants, report);
  const answered = mapChanged(merged, (message, index) => dropDanglingCalls(message, index, merged, report));
  return mergeNeighbours(answered, "user", mergeUsers, report);
});

/** Removes results inside user messages that answer no call of the assistant before them. */
export const dropForeignToolResultBlocks = definePass("embedded-results", (messages, _options, report) => {
  let callIds: ReadonlySet<unknown> = new Set();
  return mapChanged(messages, (message, index) => {
    const role = roleOf(message);
    if (role === "assistant")
      callIds = new Set(
        blocksOf(message)
          .filter(isToolCallLike)
          .map(({ id }) => id),
      );
    if (role !== "user") return message;
    const blocks = blocksOf(message);
    const kept = mapChanged(blocks, (block) => (isResultBlock(block) && !callIds.has(resultId(block)) ? undefined : block));
    if (kept === blocks) return message;
    report("changed", index, "a tool result inside a user message that answers no call before it");
    return { ...message, content: kept.length === 0 ? [textBlock(TEXTS.omittedToolResults)] : kept };
  });
});

function mergeNeighbours(
  messages: readonly StoredMessage[],
  role: string,
  merge: (earlier: StoredMessage, later: StoredMessage) => StoredMessage,
  report: Report,
): readonly StoredMessage[] {
  const merged: StoredMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const previous = merged.at(-1);
    if (previous === undefined || roleOf(message) !== role || roleOf(previous) !== role) {
      merged.push(message);
      continue;
    }
    report("merged", index, `two ${role} messages in a row`);
    merged[merged.length - 1] = merge(previous, message);
  }
  return merged.length === messages.length ? messages : merged;
}

function mergeAssistants(earlier: StoredMessage, later: StoredMessage): StoredMessage {
  const ending = ["usage", "stopReason", "errorMessage"].filter((field) => later[field] !== undefined);
  return {
    ...earlier,
    ...Object.fromEntries(ending.map((field) => [field, later[field]])),
    content: [...contentBlocks(earlier), ...contentBlocks(later)],
  };
}

const mergeUsers = (earlier: StoredMessage, later: StoredMessage): StoredMessage => ({
  ...later,
  content: [...contentBlocks(earlier), ...contentBlocks(later)],
});

const contentBlocks = (message: StoredMessage): readonly StoredBlock[] =>
  typeof message.content === "string" ? [textBlock(message.content)] : blocksOf(message);

function dropDanglingCalls(message: StoredMessage, index: number, messages: readonly StoredMessage[], report: Report): StoredMessage {
  if (roleOf(message) !== "assistant") return message;
  const blocks = blocksOf(message);
  if (!blocks.some(isToolCallLike)) return message;
  const hasThinking = blocks.some(isThinking);
  const answers = answersAfter(messages, index, hasThinking);
  const isAnswered = (call: StoredBlock) => {
    const result = answers.get(nonBlank(call.id) ?? "");
    return result !== undefined && (!hasThinking || namesAgree(result, call));
  };
  const kept = mapChanged(blocks, (block) => (isToolCallLike(block) && !isAnswered(block) ? undefined : block));
  if (kept === blocks) return message;
  report("changed", index, "a tool call no result follows");
  if (!hasThinking && kept.length > 0) return { ...message, content: kept };
  return { ...message, content: hasFailed(message) && !hasThinking ? [] : [textBlock(TEXTS.omittedToolCalls)] };
}

/** Results by id, up to the next assistant; those inside user messages count for turns without thinking. */
function answersAfter(messages: readonly StoredMessage[], index: number, hasThinking: boolean): ReadonlyMap<string, StoredMessage> {
  const answers = new Map<string, StoredMessage>();
  for (let next = index + 1; next < messages.length; next++) {
    const message = messages[next]!;
    const role = roleOf(message);
    if (role === "assistant") break;
    const results = role === "toolResult" ? [message] : role === "user" && !hasThinking ? blocksOf(message).filter(isResultBlock) : [];
    for (const result of results) answers.set(resultId(result) ?? "", result);
  }
  return answers;
}

const isResultBlock = (block: StoredBlock): boolean =>
  (typeOf(block) === "toolResult" || typeOf(block) === "tool_result") &&
  RESULT_ID_FIELDS.some((field) => fieldOf(block, field) !== undefined);

function namesAgree(result: StoredMessage, call: StoredBlock): boolean {
  const name = nonBlank(result.toolName);
  return name === undefined || name === nonBlank(call.name);
}
