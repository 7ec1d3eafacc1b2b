// Checks a Chat Completions body against every rule of the wire.

import { isRecord } from "@clew/plugin-sdk/host";
import { MESSAGE_RULES } from "./messages.ts";
import type { ChatRule, ChatRuleFlavor } from "./rule.ts";
import { SHAPE_RULES } from "./shape.ts";
import { TOOL_RULES } from "./tools.ts";

/** One broken rule. */
export interface Violation {
  /** The rule's name, e.g. "tool.missing". */
  rule: string;
  /** "reject": every server answers 400; "compat": some do. */
  level: "reject" | "compat";
  /** In the words a server would use. */
  text: string;
}

/** All rules, in the order they are checked. */
export const CHAT_RULES: readonly ChatRule[] = [...SHAPE_RULES, ...MESSAGE_RULES, ...TOOL_RULES];

/**
 * Every rule that `body` breaks for servers of `flavor` (default "compatible": the rules that all
 * share).
 */
export function checkChatRequest(
  body: unknown,
  flavor: ChatRuleFlavor = "compatible",
): Violation[] {
  if (!isRecord(body))
    return [
      { rule: "body", level: "reject", text: "We could not parse the JSON body of your request." },
    ];
  return CHAT_RULES.flatMap(({ id, level, flavors, find }) => {
    const found = flavors === undefined || flavors.includes(flavor) ? find(body) : undefined;
    return found === undefined ? [] : [{ rule: id, level, text: found }];
  });
}
