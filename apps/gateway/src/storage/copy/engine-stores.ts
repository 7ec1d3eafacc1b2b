// Opens the files in which an engine keeps what stands for the messages of a home.
import type { NamedSession, SessionRowsFile } from "@clew/lossless-engine/store";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { losslessFile } from "../../config/lossless-file.ts";
import { agentFolder } from "../../sessions/paths.ts";
import type { LeftBehind } from "./walk-home.ts";

/** The one engine that keeps rows in a database, and in files a store of its own. */
export const ROWS_ENGINE = "lossless";

export interface EngineStores {
  /** Of an agent, whether or not there is a file. */
  of(agentId: string): Promise<SessionRowsFile>;
  /**
   * Undefined: the file cannot be read or written, which is among the problems then. `isOthers` of
   * a failure: it is none of the file.
   */
  asFarAsReadable<Answer>(
    agentId: string,
    work: () => Promise<Answer>,
    isOthers?: (error: unknown) => boolean,
  ): Promise<Answer | undefined>;
  /** One for each agent whose file cannot be used. */
  problems(): LeftBehind[];
  close(): void;
}

export type { NamedSession };

export interface EngineStoresRequest {
  home: string;
  /** As the settings say; undefined: in the folder of each agent. */
  databasePath: string | undefined;
  compress: boolean;
  /** True: a file is made where something is to be kept. */
  isMade: boolean;
}

/** Opens nothing before it is asked. */
export function createEngineStores({ home, ...options }: EngineStoresRequest): EngineStores {
  const { databasePath, compress, isMade } = options;
  const open = new Map<string, SessionRowsFile>();
  const problems = new Map<string, string>();
  return {
    async of(agentId) {
      const { openSessionRows } = await import("@clew/lossless-engine/store");
      const agentDir = agentFolder(home, agentId);
      const file = losslessFile(agentDir, databasePath);
      const known = open.get(agentId) ?? openSessionRows(file, { agentDir, isMade, compress });
      open.set(agentId, known);
      return known;
    },
    async asFarAsReadable(agentId, work, isOthers = () => false) {
      if (problems.has(agentId)) return undefined;
      try {
        return await work();
      } catch (error) {
        if (!ContextEngineError.is(error) || isOthers(error)) throw error;
        problems.set(agentId, error.message);
        return undefined;
      }
    },
    problems: () =>
      [...problems].map(([agentId, why]) => ({
        what: `What the engine keeps of agent ${agentId}`,
        why: `${why.replace(/\.$/, "")}; its sessions are copied without it`,
      })),
    close() {
      for (const file of open.values()) file.close();
    },
  };
}
