// Where a case's engine and transcripts keep their files.

/** What the kit needs of a file system. */
export interface CaseStorage {
  /** Absolute path of a fresh, empty folder; the engine gets it as `agentDir`. */
  readonly agentDir: string;
  /** Writes a whole file under `agentDir`; `path` is absolute, its folders may not exist yet. */
  write(path: string, text: string): Promise<void>;
  /** Reads a whole file; undefined = it is not there. Absent: no session moves to another file. */
  read?(path: string): Promise<string | undefined>;
  /** Removes the folder with everything in it. */
  remove(): Promise<void>;
}

/**
 * A folder in the system's temporary folder. The kit's default; the only
 * part of it that needs Node.
 */
export async function temporaryStorage(): Promise<CaseStorage> {
  // Imported when a case runs: the message builders beside it work anywhere.
  const [{ mkdir, mkdtemp, readFile, rm, writeFile }, { tmpdir }, { dirname, join }] =
    await Promise.all([import("node:fs/promises"), import("node:os"), import("node:path")]);
  const agentDir = await mkdtemp(join(tmpdir(), "clew-engine-"));
  return {
    agentDir,
    async write(path, text) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    },
    read: (path) => readFile(path, "utf8").catch(() => undefined),
    remove: () => rm(agentDir, { recursive: true, force: true, maxRetries: 3 }),
  };
}
