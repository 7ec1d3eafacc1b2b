// Names what a session's transcript tells and the database lost.
import { open } from "node:fs/promises";
import { readWhole } from "../ingest/read-file.ts";
import { toldBranch } from "../ingest/told-branch.ts";
import { isNameless } from "../messages/name.ts";
import { isOwn } from "../messages/own.ts";
import { patiently } from "../patiently.ts";
import { ownerOf } from "../sessions/owner.ts";
import { type Fault, fault } from "../store/audit/fault.ts";
import { knownNames } from "../store/messages.ts";
import type { Store } from "../store/store.ts";
import { othersTurn } from "../turns.ts";

/** A session of a host, and where its transcript is. */
export interface HostTranscript {
  /** Of the transcript. */
  readonly sessionId: string;
  /** Absent: its host names none. */
  readonly sessionKey?: string | undefined;
  /** The folder of the agent whose session it is. */
  readonly agentDir: string;
  /** Path of the session file. */
  readonly file: string;
}

/** Names that are looked up at once. */
const BATCH = 64;

/**
 * What comes behind the newest stored message is read when the session goes on, and so is all of a
 * session of which nothing is stored: neither is a fault.
 */
export async function transcriptFaults(
  store: Store,
  { sessionId, sessionKey, agentDir, file }: HostTranscript,
): Promise<readonly Fault[]> {
  const session = {
    ...{ sessionId, owner: ownerOf(agentDir, store.path) },
    ...(sessionKey !== undefined && { sessionKey }),
  };
  const names = await namesIn(file);
  const known = new Set<string>();
  // What is read into the database meanwhile is not missing from it.
  const moment = await patiently(() => store.snapshot());
  try {
    for (let at = 0; at < names.length; at += BATCH) {
      const found = knownNames(moment, session, names.slice(at, at + BATCH));
      for (const name of found.known) known.add(name);
      await othersTurn();
    }
  } finally {
    moment.close();
  }
  const newest = names.findLastIndex((name) => known.has(name));
  return names
    .slice(0, newest + 1)
    .filter((name) => !known.has(name))
    .map((name) =>
      fault(
        ...(["missing", "message", null] as const),
        `message ${name} of session ${sessionKey ?? sessionId} stands in its transcript and is not stored`,
      ),
    );
}

/** Of the messages on the active branch, oldest first; none where there is no transcript. */
async function namesIn(path: string): Promise<string[]> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return [];
  try {
    if (!(await file.stat()).isFile()) return [];
    const part = await readWhole(file);
    return toldBranch(part?.entries ?? [])
      .filter(({ name, message }) => !isNameless(name) && !isOwn(message))
      .map(({ name }) => name);
  } finally {
    await file.close();
  }
}
