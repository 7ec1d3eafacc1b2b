// Lays out rows of text in columns, as wide as a terminal shows them.
import { widthOf } from "./styled.ts";

/** Columns beyond which a cell is read rather than compared. */
const SENTENCE = 40;

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
        isNumeric[column] ? fill(cell, widths[column]!) + cell : cell + fill(cell, widths[column]!),
      )
      .join("  ")
      .trimEnd();
  // Sentences in the last column need no line above all they say.
  const ruled = widths.map((width, column) =>
    column === widths.length - 1 ? Math.min(width, SENTENCE) : width,
  );
  return [line(headings), line(ruled.map((width) => "-".repeat(width))), ...rows.map(line)].join(
    "\n",
  );
}

/** The rows alone, every cell to the left. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(rows);
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell + fill(cell, widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const widthsOf = (rows: readonly (readonly string[])[]) =>
  (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ""))));

const fill = (cell: string, width: number): string =>
  " ".repeat(Math.max(0, width - widthOf(cell)));
