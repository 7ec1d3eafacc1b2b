// Finds the history of a session for calls that are not given it.
import { open } from "node:fs/promises";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { pause } from "@clew/plugin-sdk/host";
import { activeBranch, buildContext } from "@clew/plugin-sdk/transcript";
import { withName } from "../messages/name.ts";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { messagesBehind } from "../store/messages.ts";
import type { Store } from "../store/store.ts";
import { readWhole } from "./read-file.ts";

/** As its file says, or as it is stored where the host keeps no file; oldest first. */
export async function historyOf(
  store: Store,
  {
    session,
    sessionFile,
    signal,
  }: {
    session: OwnedSession;
    sessionFile?: string | undefined;
    signal?: AbortSignal | undefined;
  },
): Promise<readonly AgentMessage[]> {
  const fromFile = sessionFile === undefined ? undefined : await historyIn(sessionFile);
  return fromFile ?? storedHistory(store, session, signal);
}

/** Messages that are read at once. */
const PAGE = 32;

async function storedHistory(
  store: Store,
  session: OwnedSession,
  signal: AbortSignal | undefined,
): Promise<readonly AgentMessage[]> {
  const messages: AgentMessage[] = [];
  for (let after = 0; ; ) {
    const page = { session, after, limit: PAGE };
    const found = await patiently(() => messagesBehind(store, page), signal);
    for (const stored of found) messages.push(withName(stored));
    if (found.length < PAGE) return messages;
    after = found.at(-1)!.seq;
    await pause(signal);
  }
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
