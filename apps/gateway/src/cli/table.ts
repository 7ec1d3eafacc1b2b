// Lays out a plain text table: numbers to the right, text to the left.

/** Pure. Every row has one cell per heading. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const isNumeric = headings.map(
    (_, column) =>
      rows.length > 0 &&
      rows.every((row) => /^[-–]?[\d.,  ]*( ?(%|ms|s|[KM]?i?B))?$/.test(row[column] ?? "")),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        isNumeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join("  ")
      .trimEnd();
  return [line(headings), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join(
    "\n",
  );
}
