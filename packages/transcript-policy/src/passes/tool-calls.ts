// Decides which tool calls are complete enough to be replayed.
import { isRecord } from "@clew/plugin-sdk/host";
import { definePass, mapChanged } from "../pass.ts";
import {
  isThinking,
  isToolCallLike,
  nonBlank,
  parseJson,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  without,
} from "../stored.ts";
import { type IdsBefore, type Taken, takenBehind } from "./ids-before.ts";

/** Which calls count as replayable. */
export interface ToolCallOptions {
  /** Calls of other tools are dropped; empty or absent = no filter. Compared in lower case. */
  allowedToolNames?: readonly string[];
  /** True: a turn with thinking and calls is replayed as it was or not at all. */
  keepThinkingTurns?: boolean;
  /** True: an id that was used before gets another one later. Default: its turn is left out. */
  renamesRepeats?: boolean;
  /** Those calls before the first message that were kept as they were. Default: none. */
  before?: IdsBefore;
}

type Verdict = { keep: StoredBlock } | { drop: string };

const CALL_ID_FIELDS = ["id", "call_id", "toolCallId", "toolUseId", "tool_call_id", "tool_use_id"];
const LEGAL_NAME = /^[A-Za-z0-9_:.-]{1,64}$/;

/**
 * Drops malformed tool calls, and turns they leave empty; their results then answer nothing and go
 * with the pairing (rule R3).
 */
export const sanitizeToolCallInputs = definePass<ToolCallOptions>(
  "malformed-tool-calls",
  (messages, options, report) => {
    const allowed = new Set(
      (options.allowedToolNames ?? []).map((name) => name.trim().toLowerCase()),
    );
    const keptIds = takenBehind(options.before?.taken);
    return mapChanged(messages, (message, index) => {
      if (roleOf(message) !== "assistant") return message;
      const blocks = storedBlocks(message);
      if (!blocks.some(isToolCallLike)) return message;
      if (options.keepThinkingTurns && blocks.some(isThinking)) {
        const calls = blocks.filter(isToolCallLike);
        if (isReplaySafe(calls, allowed, options.renamesRepeats === true ? ANY : keptIds)) {
          for (const call of calls) keptIds.add(String(call.id));
          return message;
        }
        report(
          "dropped",
          index,
          "a turn with thinking and a tool call that cannot be replayed as it is",
        );
        return undefined;
      }
      const kept = mapChanged(blocks, (block) => {
        const verdict = isToolCallLike(block)
          ? judgeCall(block, message, allowed)
          : { keep: block };
        if ("keep" in verdict) {
          if (verdict.keep !== block)
            report(
              "changed",
              index,
              "a tool call with a padded name or a copy of its raw arguments",
            );
          return verdict.keep;
        }
        report(blocks.length === 1 ? "dropped" : "changed", index, verdict.drop);
        return undefined;
      });
      if (kept === blocks) return message;
      return kept.length === 0 ? undefined : { ...message, content: kept };
    });
  },
  ({ hasTools }) => hasTools,
);

function judgeCall(
  call: StoredBlock,
  message: StoredMessage,
  allowed: ReadonlySet<string>,
): Verdict {
  if (!hasInput(call)) return { drop: "a tool call without input" };
  if (!CALL_ID_FIELDS.some((field) => nonBlank(call[field]) !== undefined))
    return { drop: "a tool call without an id" };
  const name = nonBlank(call.name);
  if (name === undefined || !LEGAL_NAME.test(name))
    return { drop: "a tool call with an illegal name" };
  if (allowed.size > 0 && !allowed.has(name.toLowerCase()))
    return { drop: "a call of a tool that is not available" };
  const named = name === call.name ? call : { ...call, name };
  if (typeof call.partialJson !== "string") return { keep: named };
  if (!isFinishedResponsesCall(call, message))
    return { drop: "a tool call whose arguments were cut off" };
  return { keep: without(named, ["partialJson"]) };
}

// An empty string or object counts as given: what the model meant is not ours to judge.
const hasInput = ({ input, arguments: args }: StoredBlock): boolean =>
  (input ?? args ?? null) !== null;

/**
 * A Responses call that was finished although the stream's copy of its arguments was left in place.
 */
function isFinishedResponsesCall(call: StoredBlock, message: StoredMessage): boolean {
  const { id, input, arguments: args, partialJson } = call;
  if (
    message.stopReason !== "toolUse" ||
    typeof id !== "string" ||
    !/^[^|]+\|.+$/.test(id) ||
    (input ?? null) !== null
  )
    return false;
  if (!isRecord(args) || typeof partialJson !== "string") return false;
  return partialJson.trim() === ""
    ? Object.keys(args).length === 0
    : isRecord(parseJson(partialJson));
}

/** Ids may be used again. */
const ANY = "any";

/**
 * True when every call of a thinking turn can go back byte for byte; an id an earlier kept turn
 * used cannot.
 */
function isReplaySafe(
  calls: readonly StoredBlock[],
  allowed: ReadonlySet<string>,
  keptIds: Pick<Taken, "has"> | typeof ANY,
): boolean {
  const ids = new Set(calls.map((call) => call.id));
  return (
    (keptIds === ANY || ids.size === calls.length) &&
    calls.every((call) => {
      const { id, name } = call;
      const isClean =
        nonBlank(id) === id &&
        nonBlank(name) === name &&
        typeof id === "string" &&
        typeof name === "string" &&
        LEGAL_NAME.test(name);
      const isKnown =
        allowed.size === 0 || (typeof name === "string" && allowed.has(name.toLowerCase()));
      return (
        isClean &&
        isKnown &&
        hasInput(call) &&
        typeof call.partialJson !== "string" &&
        (keptIds === ANY || !keptIds.has(id))
      );
    })
  );
}
