// Refusals of MiniMax that are other words, or stricter, than those of others.
import { first, list, record } from "../../server/json.ts";
import { rejects, type WireRule } from "../../server/wire.ts";
import type { MessagesView } from "../view.ts";
import { TOOL_USE_RULES } from "./tool-use.ts";

const flavors = { flavors: ["minimax"] };
const found = (id: string, view: MessagesView) =>
  TOOL_USE_RULES.find((rule) => rule.id === id)!.find(view) !== undefined;

export const MINIMAX_RULES: readonly WireRule<MessagesView>[] = [
  rejects(
    "minimax.tool_result.orphan",
    (view) =>
      found("tool_result.orphan", view)
        ? "invalid params, tool result's tool id not found (2013)"
        : undefined,
    flavors,
  ),
  rejects(
    "minimax.tool_call.unanswered",
    (view) =>
      found("tool_use.unanswered", view)
        ? "invalid params, tool call result does not follow tool call (2013)"
        : undefined,
    flavors,
  ),
  rejects(
    "minimax.thinking.type",
    ({ thinking }) =>
      thinking === "enabled"
        ? 'invalid params, invalid thinking.type: "enabled" (allowed: adaptive, disabled) (2013)'
        : undefined,
    flavors,
  ),
  rejects(
    "minimax.content.empty",
    ({ messages }) =>
      first(
        messages,
        ({ value }) =>
          value.content === "" ||
          (list(value.content).length === 0 && Array.isArray(value.content)),
        () => "invalid params, chat content is empty (2013)",
      ),
    flavors,
  ),
  rejects(
    "minimax.tools.parameters",
    ({ tools }) =>
      first(
        tools,
        ({ value }) => Object.keys(record(value.input_schema)).length === 0,
        () => "invalid params, function parameters is empty (2013)",
      ),
    flavors,
  ),
];
