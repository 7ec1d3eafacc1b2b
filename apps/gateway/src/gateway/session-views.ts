// What a gateway tells of its sessions without opening them.
import { type ContextView, describeContext, readContextItem } from "../reports/context-view.ts";
import type { Conversations } from "../sessions/conversations.ts";
import { sessionNotFound } from "../sessions/name-errors.ts";
import { agentPaths } from "../sessions/paths.ts";
import type { ReadSession, SessionStore, SessionSummary } from "../sessions/store.ts";

export interface SessionViews {
  sessions(): Promise<(SessionSummary & { busy: boolean })[]>;
  session(key: string): Promise<(ReadSession & { busy: boolean }) | null>;
  /**
   * What the model saw in the session's last call; null when there was none. Throws
   * SESSION_NOT_FOUND.
   */
  context(key: string): Promise<ContextView | null>;
  /**
   * The whole text of one item of `context`; null when there is no such item. Throws
   * SESSION_NOT_FOUND.
   */
  contextItem(
    key: string,
    part: "system" | "tools" | "messages",
    index: number,
  ): Promise<string | null>;
}

export interface SessionViewsOptions {
  home: string;
  store: SessionStore;
  conversations: Conversations;
  canonicalKey: (text: string) => string;
}

export function createSessionViews(options: SessionViewsOptions): SessionViews {
  const { home, store, conversations, canonicalKey } = options;
  const read = (text: string) => store.read(canonicalKey(text));
  const require = async (text: string) => {
    const found = await read(text);
    if (found === null) throw sessionNotFound(text);
    return found;
  };
  const reportsOf = ({ agentId }: ReadSession) => agentPaths(home, agentId).reports;
  return {
    async sessions() {
      const busy = conversations.busy();
      return (await store.list()).map((summary) => ({ ...summary, busy: busy.has(summary.key) }));
    },
    async session(text) {
      const found = await read(text);
      return found && { ...found, busy: conversations.busy().has(canonicalKey(text)) };
    },
    async context(text) {
      const found = await require(text);
      return describeContext(reportsOf(found), found);
    },
    async contextItem(text, part, index) {
      const found = await require(text);
      return readContextItem(reportsOf(found), found, part, index);
    },
  };
}
