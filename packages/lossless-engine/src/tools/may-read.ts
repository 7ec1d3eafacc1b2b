// Decides which conversations a call of a recall tool may read, and what it costs a grant.
import { estimateText } from "@clew/plugin-sdk/tokens";
import { headOf } from "@clew/plugin-sdk/transcript";
import type { OwnedSession } from "../sessions/owner.ts";
import { hasConversation, type Scope, sessionConversations } from "../store/recall.ts";
import type { Store } from "../store/store.ts";
import type { Grant, Grants } from "./grants.ts";
import type { Reach } from "./reach.ts";

/** Whom a recall asks about. */
export interface Asked {
  readonly conversationId?: number | undefined;
  readonly allConversations?: boolean | undefined;
}

/** What a call may read, or why nothing. */
export type MayRead =
  | { readonly kind: "refused"; readonly why: string }
  | {
      readonly kind: "allowed";
      readonly scope: Scope;
      /** Pays for the answer. Undefined: nobody has to. */
      readonly grant: Grant | undefined;
      /** What the answer has to say of it. Undefined: nothing. */
      readonly note: string | undefined;
    };

const NOT_GRANTED =
  "Only what was said in this session itself was looked at: it is a child session, and nothing of other ones is granted to it, or not any more.";

/** Pure. */
export function planReading({
  asked: { conversationId, allConversations = false },
  own,
  granted,
  isChild,
  isThere,
}: {
  asked: Asked;
  /** The session's own conversations. */
  own: readonly number[];
  /** Those that a grant opens, and the grant. Undefined: it has none. */
  granted: { readonly conversations: readonly number[]; readonly grant: Grant } | undefined;
  isChild: boolean;
  /** Whether the database holds the conversation that is asked for. */
  isThere: boolean;
}): MayRead {
  const allowed = (scope: Scope, grant?: Grant, note?: string): MayRead => ({
    ...{ kind: "allowed", scope, grant, note },
  });
  if (conversationId !== undefined) {
    if (own.includes(conversationId)) return allowed([conversationId]);
    if (granted?.conversations.includes(conversationId))
      return allowed([conversationId], granted.grant);
    const isOpen = isThere && !isChild;
    if (isOpen && allConversations) return allowed([conversationId]);
    return {
      kind: "refused",
      why: isOpen
        ? `Conversation ${conversationId} is another session's; allConversations: true opens it.`
        : `There is no conversation ${conversationId} that this session may read.`,
    };
  }
  if (!allConversations) return allowed(own);
  if (!isChild) return allowed(null);
  return granted === undefined
    ? allowed(own, undefined, NOT_GRANTED)
    : allowed([...own, ...granted.conversations], granted.grant);
}

/** What the session may read in this database. */
export function mayRead(
  { reach, grants }: { reach: Reach; grants: Grants },
  { store, session, asked }: { store: Store; session: OwnedSession; asked: Asked },
): MayRead {
  const { sessionKey } = session;
  const grant = grants.of(sessionKey);
  const { conversationId } = asked;
  return planReading({
    asked,
    own: sessionConversations(store, session),
    // What is in another database has to be asked for with lcm_expand.
    granted:
      grant !== undefined && reach.storeOf(grant.session) === store
        ? { conversations: sessionConversations(store, grant.session), grant }
        : undefined,
    isChild: grants.isChild(sessionKey),
    isThere: conversationId !== undefined && hasConversation(store, conversationId),
  });
}

/** The answer, as far as the grant's tokens go; they are taken from it. */
export function paidBy({ left }: Grant, text: string): string {
  const cost = estimateText(text).high;
  if (cost <= left.tokens) {
    left.tokens -= cost;
    return text;
  }
  let shown = headOf(text, Math.floor((text.length * left.tokens) / cost));
  while (shown !== "" && estimateText(shown).high > left.tokens)
    shown = headOf(shown, Math.floor(shown.length * 0.9));
  left.tokens = 0;
  const used = "The tokens of this session's grant are used up";
  return shown === "" ? `${used}.` : `${used}; this answer is cut at its end.\n\n${shown}`;
}
