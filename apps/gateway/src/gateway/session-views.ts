// What a gateway tells of its sessions without opening them.
import type { Host } from "../host/host.ts";
import type { EngineStatus } from "../plugins/engines/engine-status.ts";
import { type ContextView, describeContext, readContextItem } from "../reports/context-view.ts";
import type { Conversations } from "../sessions/conversations.ts";
import { sessionNotFound } from "../sessions/name-errors.ts";
import { agentPaths } from "../sessions/paths.ts";
import type { ReadSession, SessionStore, SessionSummary } from "../sessions/store.ts";

export interface SessionViews {
  sessions(): Promise<(SessionSummary & { busy: boolean })[]>;
  session(key: string): Promise<(ReadSession & { busy: boolean }) | null>;
  /** The engine that answers in a session, also before its first message, and how it stands. */
  engine(key: string): Promise<EngineStatus>;
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
  host: Pick<Host, "engineStatus">;
  agentOf: (key: string) => string;
  store: SessionStore;
  conversations: Conversations;
  canonicalKey: (text: string) => string;
}

const NOTHING_SAID = { branch: [], deliveries: { read: () => undefined } };

export function createSessionViews(options: SessionViewsOptions): SessionViews {
  const { home, host, store, conversations, canonicalKey, agentOf } = options;
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
    async engine(text) {
      const key = canonicalKey(text);
      const found = await store.read(key);
      const known = found && { branch: found.branch, deliveries: await store.deliveries(found) };
      return host.engineStatus(agentOf(key), { key, ...(known ?? NOTHING_SAID) });
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
