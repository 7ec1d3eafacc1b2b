// Tells plugins that a session is gone, or that this process is done with it.
import type { HostSession } from "@clew/engine-core";
import type { PluginHost } from "../plugins/host.ts";
import { hookContext } from "../plugins/offer/hook-context.ts";
import type { Conversation } from "../sessions/conversations.ts";

/** Sessions go on after a restart; plugins are told that this process is done with them. */
export async function tellShutdown(
  plugins: PluginHost | undefined,
  { session }: Conversation,
  workspaceDir: string,
): Promise<void> {
  const { sessionId, sessionKey, sessionFile } = session.session;
  const messageCount = session.branch().filter(({ type }) => type === "message").length;
  await plugins?.hooks.emit(
    "session_end",
    { sessionId, sessionKey, sessionFile, messageCount, reason: "shutdown" },
    hookContext(session.session, { workspaceDir }),
  );
}

/** It is gone with all that was said in it. */
export async function tellDeleted(
  plugins: PluginHost | undefined,
  session: HostSession,
  workspaceDir: string,
): Promise<void> {
  const { sessionId, sessionKey } = session;
  const event = { sessionId, sessionKey, messageCount: 0, reason: "deleted" };
  await plugins?.hooks.emit("session_end", event, hookContext(session, { workspaceDir }));
}
