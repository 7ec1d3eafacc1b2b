// Where a case's engine and transcripts keep their files.

import { atEachWrite } from "./writes.ts";

/** What the kit needs of a file system. */
export interface CaseStorage {
  /** Absolute path of a fresh, empty folder; the engine gets it as `agentDir`. */
  readonly agentDir: string;
  /** Writes a whole file under `agentDir`; `path` is absolute, its folders may not exist yet. */
  write(path: string, text: string): Promise<void>;
  /** Reads a whole file; undefined = it is not there. Absent: no session moves to another file. */
  read?(path: string): Promise<string | undefined>;
  /**
   * A copy of the folder as it is at this moment, in another place, for an engine that is made
   * where the process was killed. Absent, or undefined: it cannot be copied.
   */
  copy?(): CaseStorage | undefined;
  /**
   * Calls `see` at each moment within `work` at which a kill would leave a file half written.
   * Absent: nobody knows them.
   */
  atEachWrite?<Result>(see: () => void, work: () => Promise<Result>): Promise<Result>;
  /** Removes the folder with everything in it. */
  remove(): Promise<void>;
}

/**
 * A folder in the system's temporary folder. The kit's default; the only
 * part of it that needs Node.
 */
export async function temporaryStorage(): Promise<CaseStorage> {
  // Imported when a case runs: the message builders beside it work anywhere.
  const [
    { cpSync, mkdtempSync },
    { mkdir, readFile, rm, writeFile },
    { tmpdir },
    { dirname, join },
  ] = await Promise.all([
    import("node:fs"),
    import("node:fs/promises"),
    import("node:os"),
    import("node:path"),
  ]);
  const freshFolder = () => mkdtempSync(join(tmpdir(), "clew-engine-"));
  const storageIn = (agentDir: string): CaseStorage => ({
    agentDir,
    async write(path, text) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    },
    read: (path) => readFile(path, "utf8").catch(() => undefined),
    copy() {
      const copied = freshFolder();
      try {
        cpSync(agentDir, copied, { recursive: true });
        return storageIn(copied);
      } catch {
        // Another thread or process of the engine wrote meanwhile.
        void rm(copied, { recursive: true, force: true });
        return undefined;
      }
    },
    atEachWrite,
    remove: () => rm(agentDir, { recursive: true, force: true, maxRetries: 3 }),
  });
  return storageIn(freshFolder());
}
