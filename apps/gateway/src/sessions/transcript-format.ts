// The transcript types of plugin-sdk, and the reading of versions 1 and 2 until that package does it.
import { createHash } from "node:crypto";
import { TRANSCRIPT_VERSION, type TranscriptHeader } from "@clew/plugin-sdk/transcript";

export { type TranscriptEntry, TranscriptEntrySchema, type TranscriptHeader, TranscriptHeaderSchema } from "@clew/plugin-sdk/transcript";

export interface Migration {
  header: TranscriptHeader;
  entries: Record<string, unknown>[];
  migrated: boolean;
}

/** v1 is a line of entries without ids, v2 a tree whose custom messages had the role `hookMessage`. Ids made here depend on the content only. */
export function migrateTranscript(header: TranscriptHeader, records: Record<string, unknown>[]): Migration {
  const version = header.version ?? 1;
  if (version >= TRANSCRIPT_VERSION) return { header, entries: records, migrated: false };
  const tree = version < 2 ? linkEntries(header, records) : records;
  return { header: { ...header, version: TRANSCRIPT_VERSION }, entries: tree.map(renameHookMessage), migrated: true };
}

function linkEntries(header: TranscriptHeader, records: Record<string, unknown>[]): Record<string, unknown>[] {
  const ids = records.map((record, index) =>
    createHash("sha256")
      .update(`${header.id}\n${index}\n${JSON.stringify(record)}`)
      .digest("hex")
      .slice(0, 8),
  );
  return records.map((record, index) => {
    const { firstKeptEntryIndex, ...rest } = record;
    // Version 1 counted the header as index 0.
    const firstKept = typeof firstKeptEntryIndex === "number" ? ids[firstKeptEntryIndex - 1] : undefined;
    return { ...rest, id: ids[index], parentId: ids[index - 1] ?? null, ...(firstKept !== undefined && { firstKeptEntryId: firstKept }) };
  });
}

function renameHookMessage(record: Record<string, unknown>): Record<string, unknown> {
  const message = record.message as { role?: unknown } | undefined;
  return message?.role === "hookMessage" ? { ...record, message: { ...message, role: "custom" } } : record;
}
