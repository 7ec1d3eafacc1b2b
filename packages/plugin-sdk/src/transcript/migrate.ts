// Brings the records of older session files to the current version.
import { TRANSCRIPT_VERSION, type TranscriptHeader } from "./entries.ts";

type FileRecord = Record<string, unknown>;

export interface MigratedTranscript {
  header: TranscriptHeader;
  entries: FileRecord[];
  /** True when the file is of an older version. */
  migrated: boolean;
}

/**
 * `records` are the file's lines after the header, in order; unchecked. Version 1 is a list without
 * ids whose compactions point into the file by number (0 = the header); version 2 is a tree whose
 * custom messages had the role "hookMessage". Pure: the same file gives the same ids.
 */
export function migrateTranscript(
  header: TranscriptHeader,
  records: readonly FileRecord[],
): MigratedTranscript {
  if (!isOlder(header)) return { header, entries: records.slice(), migrated: false };
  const version = header.version ?? 1;
  const tree = version < 2 ? linkRecords(header, records) : records;
  return {
    header: { ...header, version: TRANSCRIPT_VERSION },
    entries: tree.map(renameHookMessage),
    migrated: true,
  };
}

/** True when the file's records have to be migrated. */
export const isOlder = ({ version = 1 }: Partial<TranscriptHeader>): boolean =>
  version < TRANSCRIPT_VERSION;

function linkRecords(header: TranscriptHeader, records: readonly FileRecord[]): FileRecord[] {
  const ids = uniqueIds(header, records);
  return records.map((record, index) => {
    const { firstKeptEntryIndex, ...rest } = record;
    return {
      timestamp: header.timestamp,
      ...rest,
      id: ids[index]!,
      parentId: ids[index - 1] ?? null,
      ...(record.type === "compaction" && {
        firstKeptEntryId: keptId(firstKeptEntryIndex, ids, index),
      }),
    };
  });
}

/**
 * A target that does not exist keeps nothing, which is what a compaction
 * that points at itself says.
 */
function keptId(fileIndex: unknown, ids: readonly string[], own: number): string {
  const index = typeof fileIndex === "number" ? Math.max(0, fileIndex - 1) : own;
  return ids[Math.min(index, own)]!;
}

function uniqueIds(header: TranscriptHeader, records: readonly FileRecord[]): string[] {
  const taken = new Set<string>();
  return records.map((record, index) => {
    const seed = `${header.id}\n${index}\n${JSON.stringify(record)}`;
    let id = hash8(seed);
    for (let salt = 1; taken.has(id); salt++) id = hash8(`${salt}\n${seed}`);
    taken.add(id);
    return id;
  });
}

/** FNV-1a over UTF-16 units, 8 hex digits: names records, protects nothing. */
function hash8(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

function renameHookMessage(record: FileRecord): FileRecord {
  const message = record.message;
  if (
    typeof message !== "object" ||
    message === null ||
    (message as { role?: unknown }).role !== "hookMessage"
  )
    return record;
  return { ...record, message: { ...message, role: "custom" } };
}
