// How entries are written as lines, and which lines belong together.
import type { TranscriptEntry, TranscriptHeader } from "@clew/plugin-sdk/transcript";

/**
 * On a file line: this entry and the next `group - 1` belong together; without
 * all of them none counts.
 */
const GROUP_KEY = "__clew";
/** How a file shows that it holds such a mark. */
export const GROUP_TEXT = `"${GROUP_KEY}":{"group":`;

/**
 * How many lines belong together with this one; undefined when it has no mark, or one that is part
 * of a message.
 */
export function groupSize(line: string): number | undefined {
  if (!line.includes(GROUP_TEXT)) return undefined;
  try {
    const size: unknown = JSON.parse(line)[GROUP_KEY]?.group;
    return typeof size === "number" ? size : undefined;
  } catch {
    return undefined;
  }
}

/** The entry as it was before it was written. */
export function withoutGroup(entry: TranscriptEntry & { [GROUP_KEY]?: unknown }): TranscriptEntry {
  if (!(GROUP_KEY in entry)) return entry;
  const { [GROUP_KEY]: _group, ...rest } = entry;
  return rest;
}

/** A line for each; `atomic`: all or none of them count when the write is interrupted. */
export function formatEntries(
  entries: readonly TranscriptEntry[],
  options: { atomic?: boolean } = {},
): string[] {
  const group = options.atomic === true && entries.length > 1;
  return entries.map(
    (entry, index) =>
      `${JSON.stringify(group && index === 0 ? { ...entry, [GROUP_KEY]: { group: entries.length } } : entry)}\n`,
  );
}

export function formatHeader(header: TranscriptHeader): string {
  return `${JSON.stringify(header)}\n`;
}
