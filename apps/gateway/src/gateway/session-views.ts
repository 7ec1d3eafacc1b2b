// What a gateway tells of its sessions without opening them.
import { type ContextView, describeContext, readContextItem } from "../reports/context-view.ts";
import type { Conversations } from "../sessions/conversations.ts";
import { agentPaths } from "../sessions/paths.ts";
import type { ReadSession, SessionStore, SessionSummary } from "../sessions/store.ts";

export interface SessionViews {
  sessions(): Promise<(SessionSummary & { busy: boolean })[]>;
  session(key: string): Promise<(ReadSession & { busy: boolean }) | null>;
  /** What the model saw in the session's last call; null when there was none. */
  context(key: string): Promise<ContextView | null>;
  /** The whole text of one item of `context`; null when there is no such item. */
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
      const found = await read(text);
      return found && describeContext(reportsOf(found), found);
    },
    async contextItem(text, part, index) {
      const found = await read(text);
      return found && readContextItem(reportsOf(found), found, part, index);
    },
  };
}
