// Checks a Chat Completions body against every rule of the wire.
import { isRecord } from "@clew/plugin-sdk/host";
import type { Violation } from "../../server/options.ts";
import { brokenRules } from "../../server/wire.ts";
import { MAKER_RULES } from "./makers.ts";
import { MESSAGE_RULES } from "./messages.ts";
import type { ChatRule, ChatRuleFlavor } from "./rule.ts";
import { SHAPE_RULES } from "./shape.ts";
import { TOOL_RULES } from "./tools.ts";

/** All rules, in the order they are checked. */
export const CHAT_RULES: readonly ChatRule[] = [
  ...MAKER_RULES,
  ...SHAPE_RULES,
  ...MESSAGE_RULES,
  ...TOOL_RULES,
];

export const UNREADABLE = "We could not parse the JSON body of your request.";

/**
 * Every rule that `body` breaks for servers of `flavor` (default "compatible": the rules that all
 * share).
 */
export function checkChatRequest(
  body: unknown,
  flavor: ChatRuleFlavor = "compatible",
): Violation[] {
  if (!isRecord(body)) return [{ rule: "body", level: "reject", text: UNREADABLE }];
  return brokenRules(CHAT_RULES, body, flavor);
}
