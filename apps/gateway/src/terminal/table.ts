// Lays out rows of text in columns.

/**
 * A table with headings: numbers to the right, text to the left. Every row
 * has one cell per heading.
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = widthsOf([headings, ...rows]);
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

/** The rows alone, every cell to the left. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(rows);
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const widthsOf = (rows: readonly (readonly string[])[]) =>
  (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
