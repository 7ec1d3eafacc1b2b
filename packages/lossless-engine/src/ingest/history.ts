// Finds the history of a session for calls that are not given it.
import { open } from "node:fs/promises";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { activeBranch, buildContext } from "@clew/plugin-sdk/transcript";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { conversationMessages } from "../store/messages.ts";
import type { Store } from "../store/store.ts";
import { readWhole } from "./read-file.ts";

/** As its file says, or as it is stored where the host keeps no file; oldest first. */
export async function historyOf(
  store: Store,
  { session, sessionFile }: { session: OwnedSession; sessionFile?: string | undefined },
): Promise<readonly AgentMessage[]> {
  const fromFile = sessionFile === undefined ? undefined : await historyIn(sessionFile);
  return fromFile ?? patiently(() => conversationMessages(store, session));
}

async function historyIn(path: string): Promise<readonly AgentMessage[] | undefined> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    if (!(await file.stat()).isFile()) return undefined;
    const part = await readWhole(file);
    return part && buildContext(activeBranch(part.entries)).items.map(({ message }) => message);
  } finally {
    await file.close();
  }
}
