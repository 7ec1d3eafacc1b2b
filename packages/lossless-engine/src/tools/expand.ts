// The tool by which a child session reads what its parent may see.
import type { PluginToolResult } from "@clew/plugin-sdk/core";
import { sessionConversations } from "../store/recall.ts";
import type { Grants } from "./grants.ts";
import { gather } from "./passages.ts";
import type { Reach } from "./reach.ts";
import { textResult } from "./result.ts";

/** The arguments of `lcm_expand`. */
export interface ExpandArguments {
  readonly query: string;
  /** Tokens to read. Absent: all that the grant has left. */
  readonly tokenCap?: number | undefined;
}

export const EXPAND_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["query"],
  properties: {
    query: { type: "string", minLength: 1, description: "Words to look for." },
    tokenCap: { type: "integer", minimum: 1, description: "Tokens to read at most." },
  },
} as const;

/** Within the grant of the session `sessionKey`: its conversations, its tokens, its time. */
export async function expand(
  { reach, grants }: { reach: Reach; grants: Grants },
  sessionKey: string | undefined,
  { query, tokenCap = Infinity }: ExpandArguments,
  signal?: AbortSignal | undefined,
): Promise<PluginToolResult> {
  const grant = grants.of(sessionKey);
  if (grant === undefined)
    return textResult("This session was granted nothing of another one, or its time is over.");
  const { session, left } = grant;
  const store = reach.storeOf(session);
  if (store === undefined) return textResult("Nothing of the granted session is stored.");
  const { passages, tokens, isCut } = await gather(store, {
    query,
    scope: sessionConversations(store, session),
    maxTokens: Math.min(tokenCap, left.tokens),
    signal,
  });
  // Another call may have read meanwhile.
  if (tokens > left.tokens) return textResult("The grant's tokens are used up.");
  left.tokens -= tokens;
  const rest = isCut ? [`There is more; the grant has ${left.tokens} tokens left.`] : [];
  const found =
    passages.length === 0 && !isCut ? ["Nothing found."] : passages.map(({ text }) => text);
  return textResult([...found, ...rest].join("\n\n"));
}
