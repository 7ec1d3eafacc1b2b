// The file that says how far each durable engine has committed a session.
import { mkdir, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { CommitCursor, OutboxPort } from "@clew/engine-core";
import writeFileAtomic from "write-file-atomic";
import { z } from "zod";

const CursorSchema = z.object({
  engineId: z.string().min(1),
  entryId: z.string().nullable(),
  attempts: z.number().int().nonnegative(),
  lastError: z.string().nullable(),
});
const OutboxSchema = z.object({ v: z.literal(1), cursors: z.array(CursorSchema) });

/**
 * An unreadable file is set aside as `.unreadable` and counts as none: everything on the branch is
 * pending then, and commits are idempotent, so an engine is told twice rather than never.
 */
export async function openOutbox(file: string): Promise<OutboxPort> {
  const cursors = new Map((await readCursors(file)).map((cursor) => [cursor.engineId, cursor]));
  return {
    cursor: (engineId) => cursors.get(engineId),
    async save(cursor) {
      const changed = new Map(cursors).set(cursor.engineId, cursor);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFileAtomic(file, `${JSON.stringify({ v: 1, cursors: [...changed.values()] })}\n`, {
        mode: 0o600,
      });
      cursors.set(cursor.engineId, cursor);
    },
  };
}

async function readCursors(file: string): Promise<CommitCursor[]> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return [];
  try {
    return OutboxSchema.parse(JSON.parse(text)).cursors;
  } catch {
    await rename(file, `${file}.unreadable`);
    return [];
  }
}
