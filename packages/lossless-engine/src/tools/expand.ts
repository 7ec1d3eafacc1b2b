// The tool by which a child session reads what its parent may see.
import type { SessionRef } from "@clew/plugin-sdk/core";
import { estimateText } from "@clew/plugin-sdk/tokens";
import { headOf } from "@clew/plugin-sdk/transcript";
import { searchTextOf } from "../messages/search-text.ts";
import { patiently } from "../patiently.ts";
import {
  hasConversation,
  messagesBetween,
  type Scope,
  sessionConversations,
} from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import type { StoredSummary } from "../store/summary-rows.ts";
import { MOST_QUERY_CHARS } from "./arguments.ts";
import {
  SUMMARY_PARAMETERS,
  type SummaryArguments,
  summariesNamed,
  withoutEffect,
} from "./compatible.ts";
import { describeSummary, type ShownSummary } from "./describe-past.ts";
import type { Grants } from "./grants.ts";
import { timeLabelOf } from "./label.ts";
import { type Asked, planReading } from "./may-read.ts";
import { gather, type Passage, type Passages } from "./passages.ts";
import { setIn } from "./quoted.ts";
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
  const { query, conversationId, tokenCap = Infinity, summaryIds = [] } = asked;
  const notes = withoutEffect(asked);
  if (query === undefined && summaryIds.length === 0)
    return [...notes, "query is missing: words to look for, or summaryIds."].join("\n");
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
  const of = { scope: may.scope, signal };
  const named = await summariesNamed(store, asked, of);
  notes.push(...named.notes);
  if (named.notes.length > 0 && named.summaries.length === 0) return notes.join("\n");
  const maxTokens = Math.min(tokenCap, left.tokens);
  const within = summaryIds.length === 0 ? undefined : named.summaries;
  const { passages, tokens, isCut } =
    query === undefined
      ? await inSummaries(store, named.summaries, { ...of, maxTokens })
      : await gather(store, { ...of, query, within, maxTokens });
  // Another call may have read meanwhile, and time goes on.
  if (grants.of(sessionKey) !== grant) return NOTHING_GRANTED;
  if (tokens > left.tokens) return "The grant's tokens are used up.";
  left.tokens -= tokens;
  const rest = isCut ? [`There is more; the grant has ${left.tokens} tokens left.`] : [];
  const found =
    passages.length === 0 && !isCut ? ["Nothing found."] : passages.map(({ text }) => text);
  return [...notes, ...found, ...rest].join("\n\n");
}

/** What each of them stands for, as far as there is room. */
async function inSummaries(
  store: Store,
  summaries: readonly StoredSummary[],
  { maxTokens, ...of }: { scope: Scope; signal?: AbortSignal | undefined; maxTokens: number },
): Promise<Passages> {
  const passages: Passage[] = [];
  let tokens = 0;
  for (const { id } of summaries) {
    const room = Math.min(PAGE_CHARS, CHARS_PER_TOKEN * (maxTokens - tokens));
    const shown = await describeSummary(store, id, { ...of, room });
    if (shown === undefined) continue;
    const { text, range } = shown;
    const said = range === undefined ? [] : await messagesOf(store, range, of.signal);
    for (const part of [text, ...said]) {
      const cost = estimateText(part).estimate;
      if (tokens + cost > maxTokens) return { passages, tokens, isCut: true };
      tokens += cost;
      passages.push({ seq: 0, conversation: 0, text: part });
    }
  }
  return { passages, tokens, isCut: false };
}

const messagesOf = async (
  store: Store,
  { from, to, conversation }: NonNullable<ShownSummary["range"]>,
  signal: AbortSignal | undefined,
): Promise<string[]> => {
  const of = { scope: [conversation], from, to, limit: MOST_MESSAGES };
  const messages = await patiently(() => messagesBetween(store, of), signal);
  return messages.map((stored) =>
    setIn(`${timeLabelOf(stored)}: ${headOf(searchTextOf(stored.message), MOST_CHARS)}`),
  );
};

/** Of what is said of one summary. */
const PAGE_CHARS = 8_192;
const CHARS_PER_TOKEN = 3;
const MOST_MESSAGES = 200;
/** Of one message: a child reads on by its words. */
const MOST_CHARS = 1_200;

const NOTHING_GRANTED = "This session was granted nothing of another one, or its time is over.";
