// Splits a summary into its headings and the lines under them.

export interface SummarySection {
  /** The heading's line; empty for lines before the first one. */
  heading: string;
  /** Trimmed, without blank ones. */
  lines: string[];
}

/**
 * The sections of a Markdown text with headings of level two, in order; without empty leading text.
 */
export function parseSections(text: string): SummarySection[] {
  const sections: SummarySection[] = [{ heading: "", lines: [] }];
  for (const line of text.split("\n").map((raw) => raw.trim())) {
    if (line.startsWith("## ")) sections.push({ heading: line, lines: [] });
    else if (line !== "") sections.at(-1)!.lines.push(line);
  }
  return sections[0]!.lines.length === 0 ? sections.slice(1) : sections;
}
