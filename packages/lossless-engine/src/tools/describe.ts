// The tool that shows stored messages whole.
import type { PluginToolResult, SessionRef } from "@clew/plugin-sdk/core";
import { headOf } from "@clew/plugin-sdk/transcript";
import { searchTextOf } from "../messages/search-text.ts";
import { messagesBetween, numberOf, type Scope } from "../store/recall.ts";
import type { StoredMessage } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { labelOf } from "./label.ts";
import { type Asked, scopeOf } from "./reach.ts";
import { textResult } from "./result.ts";

/** The arguments of `lcm_describe`. */
export interface DescribeArguments extends Asked {
  readonly id: string;
  /** Characters to skip. */
  readonly offset?: number | undefined;
  /** True: the message as JSON, with every field. */
  readonly raw?: boolean | undefined;
}

export const DESCRIBE_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["id"],
  properties: {
    id: {
      type: "string",
      minLength: 1,
      description: 'A number ("#12"), several ("#12-#30"), or an id as a record has it behind @.',
    },
    offset: { type: "integer", minimum: 0, description: "Go on at this character." },
    raw: { type: "boolean", description: "As JSON, with every field." },
    conversationId: { type: "integer", description: "Only in this conversation." },
    allConversations: { type: "boolean", description: "Other sessions too." },
  },
} as const;

/** Characters of one answer. */
const PAGE_CHARS = 32_000;
const MOST_MESSAGES = 500;

export function describe(
  store: Store,
  session: SessionRef,
  asked: DescribeArguments,
): PluginToolResult {
  const scope = scopeOf(store, session, asked);
  const range = rangeOf(store, scope, asked.id.trim());
  if (range === undefined)
    return textResult(
      `There is no message ${asked.id.slice(0, 100)} here. lcm_grep finds messages; allConversations looks in other sessions too.`,
    );
  const messages = messagesBetween(store, { scope, ...range, limit: MOST_MESSAGES });
  if (messages.length === 0) return textResult("There are no such messages here.");
  return textResult(pageOf(messages, asked, range.to));
}

function rangeOf(store: Store, scope: Scope, id: string): { from: number; to: number } | undefined {
  const [, from, to = from] = /^#(\d{1,15})(?:\s*-\s*#?(\d{1,15}))?$/.exec(id) ?? [];
  if (from !== undefined) return { from: Number(from), to: Number(to) };
  const seq = numberOf(store, scope, id.replace(/^@/, ""));
  return seq === undefined ? undefined : { from: seq, to: seq };
}

/** Whole messages as long as they fit; one that does not fit alone is cut, and says where. */
function pageOf(
  messages: readonly StoredMessage[],
  { offset = 0, raw = false }: DescribeArguments,
  to: number,
): string {
  const parts: string[] = [];
  let left = PAGE_CHARS;
  for (const [index, message] of messages.entries()) {
    const text = raw ? JSON.stringify(message.message) : searchTextOf(message.message);
    const from = index === 0 ? offset : 0;
    const rest = text.slice(from);
    const { seq } = message;
    if (rest.length > left) {
      if (index > 0) return [...parts, `To go on: {"id": "#${seq}-#${to}"}.`].join("\n\n");
      const shown = headOf(rest, left);
      const next = `{"id": "#${seq}", "offset": ${from + shown.length}${raw ? ', "raw": true' : ""}}`;
      return `${labelOf(message)}\n${shown}\n\nCharacters ${from} to ${from + shown.length} of ${text.length}; to go on: ${next}.`;
    }
    left -= rest.length;
    parts.push(`${labelOf(message)}\n${rest === "" ? "(no text)" : rest}`);
  }
  const last = messages.at(-1)!.seq;
  const more = messages.length === MOST_MESSAGES && last < to;
  return [...parts, ...(more ? [`To go on: {"id": "#${last + 1}-#${to}"}.`] : [])].join("\n\n");
}
