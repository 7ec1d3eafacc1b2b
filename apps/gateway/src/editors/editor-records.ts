// Keeps where each session works that an editor began, and by which mode and engine.
import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { LogPort } from "@clew/engine-core";
import { z } from "zod";
import { makeOwnFolder } from "../home/no-links.ts";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import { parseSessionName } from "../sessions/keys.ts";
import { editorFile } from "../sessions/paths.ts";
import { storageFailed } from "../storage-error.ts";
import { MODE_IDS } from "./modes.ts";

const RecordSchema = z.object({
  v: z.literal(1),
  sessionKey: z.string(),
  /** Absolute. */
  cwd: z.string(),
  /** Absent: as the settings say. */
  mode: z.enum(MODE_IDS).optional(),
  /** Registered id. Absent: as the settings say. */
  engine: z.string().optional(),
  /** What editors call it. Absent: nothing was said in it. */
  title: z.string().optional(),
});
export type EditorRecord = Omit<z.infer<typeof RecordSchema>, "v" | "sessionKey">;

export interface EditorRecords {
  /** Of a session that an editor began; undefined: none did. */
  of(key: string): EditorRecord | undefined;
  /** Durable when it resolves. Throws STORAGE_FAILED. */
  keep(key: string, record: EditorRecord): Promise<void>;
  remove(key: string): Promise<void>;
  /** What another process wrote is read when it is asked for again. */
  forget(key: string): void;
}

/** Sessions that editors begin have such names. */
export const EDITOR_NAME = /^acp:/;

/** Pure. */
export function isEditors(key: string): boolean {
  const name = parseSessionName(key);
  return name !== undefined && EDITOR_NAME.test(name.name);
}

/** A session is open in one process only, so nobody else writes its record. */
export function createEditorRecords({ home, log }: { home: string; log: LogPort }): EditorRecords {
  const known = new Map<string, EditorRecord | undefined>();
  const fileOf = (key: string) => editorFile(home, parseSessionName(key)!.agentId, key);
  const read = (key: string): EditorRecord | undefined => {
    const file = fileOf(key);
    if (!existsSync(file)) return undefined;
    try {
      const {
        v: _v,
        sessionKey,
        ...record
      } = RecordSchema.parse(fromJson(readFileSync(file, "utf8")));
      return sessionKey === key ? record : undefined;
    } catch {
      log.warn(`${file} cannot be read, so the session works where its agent does.`);
      return undefined;
    }
  };
  return {
    of(key) {
      // Of all other sessions nothing is looked for.
      if (!isEditors(key)) return undefined;
      if (!known.has(key)) known.set(key, read(key));
      return known.get(key);
    },
    async keep(key, record) {
      const file = fileOf(key);
      const kept = { v: 1, sessionKey: key, ...record } satisfies z.infer<typeof RecordSchema>;
      try {
        await makeOwnFolder(home, dirname(file));
        await writeOwn(file, `${toJson(kept, null, 2)}\n`);
      } catch (error) {
        throw storageFailed(`What an editor says of its session (${file}) was not kept`, error);
      }
      known.set(key, record);
    },
    async remove(key) {
      known.delete(key);
      if (isEditors(key)) await rm(fileOf(key), { force: true });
    },
    forget: (key) => void known.delete(key),
  };
}
