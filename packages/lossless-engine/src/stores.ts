// Which database a session's messages belong to.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { SessionRef } from "@clew/plugin-sdk/core";
import { type OwnedSession, ownerOf } from "./sessions/owner.ts";
import { namesSession, RECALL_SESSION } from "./sessions/patterns.ts";
import { IN_MEMORY, type Store, type StoreUse, useStore } from "./store/store.ts";

/** What an operator may say of the store; see the plugin's configuration. */
export interface StoreSettings {
  /** Path of the database file. Absent: in the agent's folder. */
  readonly databasePath?: string | undefined;
  /** True: new texts are kept compressed, which takes time and saves room. Absent: false. */
  readonly compress?: boolean | undefined;
  /** Patterns of session keys that are not stored at all. Absent: none. */
  readonly ignoreSessionPatterns?: readonly string[] | undefined;
  /** Patterns of session keys that leave nothing in the database. Absent: none. */
  readonly statelessSessionPatterns?: readonly string[] | undefined;
}

/** The open databases of one engine. */
export interface Stores {
  /** See `ownerOf`. */
  readonly owner: string;
  /** Null: the session is ignored. */
  of(session: OwnedSession): Store | null;
  /** False: nothing of the session is to be in the agent's database. */
  keeps(session: SessionRef): boolean;
  /** The database that sessions are kept in. */
  ofAgent(): Store;
  /** Path of that database where there is no such file yet; null = there is one. */
  missing(): string | null;
  /** Gives up all of them; the next question opens them again. */
  release(): void;
}

/** Where backups of other hosts look for it, in the agent's folder. */
const FILE = join("clew-lossless", "lossless.db");

export function createStores(
  agentDir: string | undefined,
  {
    databasePath,
    compress = false,
    ignoreSessionPatterns = [],
    statelessSessionPatterns = [],
  }: StoreSettings,
): Stores {
  const ignored = [...ignoreSessionPatterns, RECALL_SESSION.pattern];
  const file = databasePath ?? (agentDir === undefined ? IN_MEMORY : join(agentDir, FILE));
  let kept: StoreUse | undefined;
  let passing: StoreUse | undefined;
  const ofAgent = () => {
    kept ??= useStore(file, { compresses: compress });
    return kept.store;
  };
  return {
    owner: file === IN_MEMORY ? "" : ownerOf(agentDir, file),
    ofAgent,
    keeps: ({ sessionKey }) => !namesSession([...ignored, ...statelessSessionPatterns], sessionKey),
    missing: () => (file === IN_MEMORY || existsSync(file) ? null : file),
    of({ sessionKey }) {
      if (namesSession(ignored, sessionKey)) return null;
      if (namesSession(statelessSessionPatterns, sessionKey)) {
        passing ??= useStore(IN_MEMORY);
        return passing.store;
      }
      return ofAgent();
    },
    release() {
      kept?.release();
      kept = undefined;
      passing?.release();
      passing = undefined;
    },
  };
}
