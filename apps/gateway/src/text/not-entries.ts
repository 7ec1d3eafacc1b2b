// Names lines of a file that are no entries.

/** e.g. "line 7 is no entry", "lines 7, 9 are no entries"; `file` stands behind the numbers. */
export function notEntries(lines: readonly number[], file?: string): string {
  const where = `${lines.join(", ")}${file === undefined ? "" : ` of ${file}`}`;
  return lines.length === 1 ? `line ${where} is no entry` : `lines ${where} are no entries`;
}
