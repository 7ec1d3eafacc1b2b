// The tool by which a child session reads what its parent may see.
import type { SessionRef } from "@clew/plugin-sdk/core";
import { hasConversation, sessionConversations } from "../store/recall.ts";
import { MOST_QUERY_CHARS } from "./arguments.ts";
import { SUMMARY_PARAMETERS, type SummaryArguments, withoutEffect } from "./compatible.ts";
import type { Grants } from "./grants.ts";
import { type Asked, planReading } from "./may-read.ts";
import { gather } from "./passages.ts";
import type { Reach } from "./reach.ts";

/** The arguments of `lcm_expand`. */
export interface ExpandArguments extends Asked, SummaryArguments {
  readonly query?: string | undefined;
  /** Tokens to read. Absent: all that the grant has left. */
  readonly tokenCap?: number | undefined;
}

export const EXPAND_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  properties: {
    query: {
      type: "string",
      minLength: 1,
      maxLength: MOST_QUERY_CHARS,
      description: "Words to look for.",
    },
    tokenCap: { type: "integer", minimum: 1, description: "Tokens to read at most." },
    conversationId: { type: "integer", description: "Only this conversation." },
    allConversations: { type: "boolean", description: "All that was granted, as without it." },
    ...SUMMARY_PARAMETERS,
    maxDepth: { type: "integer" },
    includeMessages: { type: "boolean", description: "Messages are shown in any case." },
  },
} as const;

/** Within the grant of the session `sessionKey`: its conversations, its tokens, its time. */
export async function expand(
  { reach, grants }: { reach: Reach; grants: Grants },
  { sessionKey }: Partial<SessionRef>,
  asked: ExpandArguments,
  signal?: AbortSignal | undefined,
): Promise<string> {
  const { query, conversationId, tokenCap = Infinity } = asked;
  const notes = withoutEffect(asked);
  if (query === undefined) return [...notes, "query is missing: words to look for."].join("\n");
  const grant = grants.of(sessionKey);
  if (grant === undefined) return NOTHING_GRANTED;
  const { session, left } = grant;
  const store = reach.storeOf(session);
  if (store === undefined) return "Nothing of the granted session is stored.";
  const may = planReading({
    asked: { conversationId },
    own: sessionConversations(store, session),
    ...{ granted: undefined, isChild: true },
    isThere: conversationId !== undefined && hasConversation(store, conversationId),
  });
  if (may.kind === "refused") return may.why;
  const { passages, tokens, isCut } = await gather(store, {
    ...{ query, scope: may.scope, signal },
    maxTokens: Math.min(tokenCap, left.tokens),
  });
  // Another call may have read meanwhile, and time goes on.
  if (grants.of(sessionKey) !== grant) return NOTHING_GRANTED;
  if (tokens > left.tokens) return "The grant's tokens are used up.";
  left.tokens -= tokens;
  const rest = isCut ? [`There is more; the grant has ${left.tokens} tokens left.`] : [];
  const found =
    passages.length === 0 && !isCut ? ["Nothing found."] : passages.map(({ text }) => text);
  return [...notes, ...found, ...rest].join("\n\n");
}

const NOTHING_GRANTED = "This session was granted nothing of another one, or its time is over.";
