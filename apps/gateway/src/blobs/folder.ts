// Keeps bytes by their hash in a folder, which several gateways may share.
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { BlobName, Blobs } from "@clew/store-postgres";
import writeFileAtomic from "write-file-atomic";
import { storageFailed } from "../storage-error.ts";
import { agentPrefix, objectKey } from "./object-key.ts";

const HASH = /^[0-9a-f]{64}$/;
const LISTED_AT_A_TIME = 1000;

/** The folder has to be there: one that is made in place of a share that is away would hide it. */
export function folderBlobs({ folder, prefix }: { folder: string; prefix: string }): Blobs {
  const place = `the folder ${folder}`;
  const fileOf = (name: BlobName) => join(folder, objectKey(prefix, name));
  const failed = (does: string, error: unknown) =>
    ContextEngineError.is(error)
      ? error
      : storageFailed(
          `${does} in ${place}, which is for large parts of sessions`,
          error,
          "elsewhere",
        );

  async function requireFolder(): Promise<void> {
    const found = await stat(folder).catch((error: NodeJS.ErrnoException) => error);
    if (!(found instanceof Error) && found.isDirectory()) return;
    if (found instanceof Error && found.code !== "ENOENT") throw found;
    throw new ContextEngineError(
      "STORAGE_FAILED",
      `There is no folder ${folder} for large parts of sessions; make it, connect the disk that has it, or correct storage.blobs.folder.`,
    );
  }
  /** Undefined: the file is not there, and its folder is. */
  async function unlessMissing<Result>(
    does: string,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw failed(does, error);
      await requireFolder().catch((why: unknown) => {
        throw failed(does, why);
      });
      return undefined;
    }
  }

  return {
    place,
    async put(name, bytes) {
      const file = fileOf(name);
      try {
        await requireFolder();
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        await writeFileAtomic(file, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), {
          mode: 0o600,
        });
      } catch (error) {
        throw failed("Nothing can be written", error);
      }
    },
    async get(name, range) {
      const read = await unlessMissing("Nothing can be read", async () => {
        const handle = await open(fileOf(name), "r");
        try {
          if (range === undefined) return new Uint8Array(await handle.readFile());
          const { size } = await handle.stat();
          const [from, to] = [Math.min(range[0], size), Math.min(range[1], size)];
          const bytes = new Uint8Array(Math.max(0, to - from));
          const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
          return bytes.subarray(0, bytesRead);
        } finally {
          await handle.close();
        }
      });
      return read ?? null;
    },
    async list(agentId, after) {
      const root = join(folder, agentPrefix(prefix, agentId));
      const namesIn = async (path: string) =>
        (await unlessMissing("Nothing can be listed", () => readdir(path))) ?? [];
      const found: string[] = [];
      for (const part of (await namesIn(root)).sort()) {
        if (after !== null && part < after.slice(0, 2)) continue;
        // Drafts of files that are being written have longer names.
        const names = (await namesIn(join(root, part))).filter((name) => HASH.test(name)).sort();
        found.push(...names.filter((name) => after === null || name > after));
        if (found.length >= LISTED_AT_A_TIME) break;
      }
      return found.slice(0, LISTED_AT_A_TIME);
    },
    async drop(agentId, hashes) {
      for (const hash of hashes)
        await unlessMissing("Nothing can be deleted", () => rm(fileOf({ agentId, hash })));
    },
  };
}
