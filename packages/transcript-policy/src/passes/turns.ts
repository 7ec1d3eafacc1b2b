// Decides which turns may stand next to each other.
import { isRecord } from "@clew/plugin-sdk/host";
import { type Clock, definePass, mapChanged, type Report } from "../pass.ts";
import {
  fieldOf,
  hasFailed,
  idOf,
  isThinking,
  isToolCallLike,
  nonBlank,
  RESULT_ID_FIELDS,
  resultId,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  textBlock,
  typeOf,
} from "../stored.ts";
import { TEXTS } from "../texts.ts";
import { sourceOf } from "./inter-session.ts";

/** Puts a user turn in front of a history that starts with an assistant (rule R13). */
export const bootstrapFirstTurn = definePass<{ clock?: Clock }>(
  "bootstrap-turn",
  (messages, { clock = Date }, report) => {
    if (roleOf(messages[0]) !== "assistant") return messages;
    report("inserted", 0, "a history that started with an assistant");
    return [{ role: "user", content: TEXTS.googleBootstrap, timestamp: clock.now() }, ...messages];
  },
  ({ firstRole }) => firstRole === "assistant",
);

/** Merges assistant messages that follow each other (rule R14). */
export const validateGeminiTurns = definePass(
  "merge-assistants",
  (messages, _options, report) => mergeNeighbours(messages, "assistant", mergeAssistants, report),
  ({ repeatedRoles }) => repeatedRoles.has("assistant"),
);

/**
 * Merges assistants, removes calls no result follows before the next assistant, then merges users
 * (rule R15).
 */
export const validateAnthropicTurns = definePass(
  "validate-turns",
  (messages, _options, report) => {
    const merged = mergeNeighbours(messages, "assistant", mergeAssistants, report);
    const answered = mapChanged(merged, (message, index) =>
      dropDanglingCalls(message, index, merged, report),
    );
    return mergeNeighbours(answered, "user", mergeUsers, report);
  },
  ({ hasTools, repeatedRoles }) =>
    hasTools || repeatedRoles.has("assistant") || repeatedRoles.has("user"),
);

/** Removes results inside user messages that answer no call of the assistant before them. */
export const dropForeignToolResultBlocks = definePass(
  "embedded-results",
  (messages, _options, report) => {
    let callIds: ReadonlySet<unknown> = new Set();
    return mapChanged(messages, (message, index) => {
      const role = roleOf(message);
      if (role === "assistant")
        callIds = new Set(
          storedBlocks(message)
            .filter(isToolCallLike)
            .map(({ id }) => id),
        );
      if (role !== "user") return message;
      const blocks = storedBlocks(message);
      const kept = mapChanged(blocks, (block) =>
        isResultBlock(block) && !callIds.has(resultId(block)) ? undefined : block,
      );
      if (kept === blocks) return message;
      report(
        "changed",
        index,
        "a tool result inside a user message that answers no call before it",
      );
      return {
        ...message,
        content: kept.length === 0 ? [textBlock(TEXTS.omittedToolResults)] : kept,
      };
    });
  },
  ({ hasEmbeddedResults }) => hasEmbeddedResults,
);

function mergeNeighbours(
  messages: readonly StoredMessage[],
  role: string,
  merge: (run: readonly StoredMessage[]) => StoredMessage,
  report: Report,
): readonly StoredMessage[] {
  const merged: StoredMessage[] = [];
  for (let start = 0, end = 0; start < messages.length; start = end) {
    for (
      end = start + 1;
      end < messages.length && roleOf(messages[start]) === role && roleOf(messages[end]) === role;
      end++
    )
      report("merged", end, `two ${role} messages in a row`);
    merged.push(end === start + 1 ? messages[start]! : merge(messages.slice(start, end)));
  }
  return merged.length === messages.length ? messages : merged;
}

/** The first one's fields; how it ended is told by the last one that says so. */
function mergeAssistants(run: readonly StoredMessage[]): StoredMessage {
  const endings = ["usage", "stopReason", "errorMessage"].flatMap((field) => {
    const value = run.findLast((message) => message[field] !== undefined)?.[field];
    return value === undefined ? [] : [[field, value] as const];
  });
  return {
    ...run[0],
    ...Object.fromEntries(endings),
    content: run.flatMap(contentBlocks),
    ...identityOf(run, run[0]!),
  };
}

/** Of what several wrote nobody is the source; the words of another session are marked by now. */
function mergeUsers(run: readonly StoredMessage[]): StoredMessage {
  const { provenance, ...last } = run.at(-1)!;
  const isOfOne = new Set(run.map(sourceOf)).size === 1;
  return {
    ...last,
    ...(isOfOne && provenance !== undefined && { provenance }),
    content: run.flatMap(contentBlocks),
    ...identityOf(run, run.at(-1)!),
  };
}

/** What the host wrote on `base`, with the first id of all, and the ids of the others. */
function identityOf(run: readonly StoredMessage[], base: StoredMessage): StoredMessage {
  const [id, ...others] = run.flatMap(idsOf);
  if (id === undefined || (others.length === 0 && id === idOf(base))) return {};
  const { merged: _stale, ...envelope } = isRecord(base.__openclaw) ? base.__openclaw : {};
  return { __openclaw: { ...envelope, id, ...(others.length > 0 && { merged: others }) } };
}

/** Of a message and of those that were merged into it before. */
function idsOf(message: StoredMessage): string[] {
  const id = idOf(message);
  const { merged } = isRecord(message.__openclaw) ? message.__openclaw : {};
  const others = Array.isArray(merged) ? merged.filter((each) => typeof each === "string") : [];
  return id === undefined ? others : [id, ...others];
}

const contentBlocks = (message: StoredMessage): readonly StoredBlock[] =>
  typeof message.content === "string" ? [textBlock(message.content)] : storedBlocks(message);

function dropDanglingCalls(
  message: StoredMessage,
  index: number,
  messages: readonly StoredMessage[],
  report: Report,
): StoredMessage {
  if (roleOf(message) !== "assistant") return message;
  const blocks = storedBlocks(message);
  if (!blocks.some(isToolCallLike)) return message;
  const hasThinking = blocks.some(isThinking);
  const answers = answersAfter(messages, index, hasThinking);
  const isAnswered = (call: StoredBlock) => {
    const result = answers.get(nonBlank(call.id) ?? "");
    return result !== undefined && (!hasThinking || namesAgree(result, call));
  };
  const kept = mapChanged(blocks, (block) =>
    isToolCallLike(block) && !isAnswered(block) ? undefined : block,
  );
  if (kept === blocks) return message;
  report("changed", index, "a tool call no result follows");
  if (!hasThinking && kept.length > 0) return { ...message, content: kept };
  return {
    ...message,
    content: hasFailed(message) && !hasThinking ? [] : [textBlock(TEXTS.omittedToolCalls)],
  };
}

/**
 * Results by id, up to the next assistant; those inside user messages count for turns without
 * thinking.
 */
function answersAfter(
  messages: readonly StoredMessage[],
  index: number,
  hasThinking: boolean,
): ReadonlyMap<string, StoredMessage> {
  const answers = new Map<string, StoredMessage>();
  for (let next = index + 1; next < messages.length; next++) {
    const message = messages[next]!;
    const role = roleOf(message);
    if (role === "assistant") break;
    const results =
      role === "toolResult"
        ? [message]
        : role === "user" && !hasThinking
          ? storedBlocks(message).filter(isResultBlock)
          : [];
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
