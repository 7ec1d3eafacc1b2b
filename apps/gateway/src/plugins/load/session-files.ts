// Tells plugins that read transcripts where sessions are, `runtime.agent.session`.
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { DEFAULT_AGENT_ID, isSafeId } from "../../sessions/keys.ts";
import { agentPaths, fileOf, transcriptFile } from "../../sessions/paths.ts";

export interface StoredSession {
  sessionId: string;
  /** ms since the epoch; last write of the transcript. */
  updatedAt?: number;
  sessionFile?: string;
  [key: string]: unknown;
}

export interface SessionFiles {
  /**
   * `store`: a path with `{agentId}` in it, as `session.store` of OpenClaw; default:
   * the gateway's own index.
   */
  resolveStorePath(store?: string, options?: { agentId?: string }): string;
  /**
   * Session key → its current transcript. Empty when there is no such file, or it cannot be read.
   */
  loadSessionStore(path: string): Record<string, StoredSession>;
  /** Throws when `sessionId` could not be a file name. */
  resolveSessionFilePath(
    sessionId: string,
    entry?: { sessionFile?: string },
    options?: { agentId?: string; storePath?: string },
  ): string;
}

export function createSessionFiles(home: string): SessionFiles {
  return {
    resolveStorePath(store, { agentId = DEFAULT_AGENT_ID } = {}) {
      if (store === undefined || store.trim() === "") return agentPaths(home, agentId).index;
      const named = store.replaceAll("{agentId}", agentId);
      return named.startsWith("~/") ? join(homedir(), named.slice(2)) : resolve(home, named);
    },
    loadSessionStore(path) {
      const stored = readIndexFile(path);
      return Object.fromEntries(
        Object.entries(stored).map(([key, entry]) => {
          const sessionFile = fileOf(dirname(path), entry.sessionId);
          const found = statSync(sessionFile, { throwIfNoEntry: false });
          return [
            key,
            { ...entry, ...(found !== undefined && { sessionFile, updatedAt: found.mtimeMs }) },
          ];
        }),
      );
    },
    resolveSessionFilePath(sessionId, entry, { agentId = DEFAULT_AGENT_ID, storePath } = {}) {
      if (!isSafeId(sessionId)) throw new Error(`"${sessionId}" is not a session id.`);
      const folder = storePath === undefined ? undefined : dirname(storePath);
      const named = entry?.sessionFile?.trim() ?? "";
      if (named !== "")
        return isAbsolute(named)
          ? named
          : join(folder ?? agentPaths(home, agentId).sessions, basename(named));
      return folder === undefined
        ? transcriptFile(home, agentId, sessionId)
        : fileOf(folder, sessionId);
    },
  };
}

function readIndexFile(path: string): Record<string, StoredSession> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
    return Object.fromEntries(
      Object.entries(value).filter((pair): pair is [string, StoredSession] =>
        isSafeId(String(pair[1]?.sessionId)),
      ),
    );
  } catch {
    return {};
  }
}
