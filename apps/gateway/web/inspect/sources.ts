// What a request consists of, in the order and words in which the page stacks it.
import type { CallRow, Cost, SourceTokens } from "../../src/inspect/shapes/calls.ts";

export interface Band {
  key: string;
  label: string;
  /** Custom property of the style sheet that holds its colour. */
  color: string;
  /** Its height in a call; null = not known. */
  of(row: CallRow): number | null;
}

export type Metric = "tokens" | "cost" | "cache";

const tokens = (key: keyof SourceTokens, label: string, color: string): Band => ({
  ...{ key, label, color: `--${color}` },
  of: (row) => row.tokens[key],
});

const dollars = (key: keyof Cost, label: string, color: string): Band => ({
  ...{ key, label, color: `--${color}` },
  of: ({ cost }) => (cost === null ? null : cost[key]),
});

/** The lowest first. */
export const BANDS: Readonly<Record<Metric, readonly Band[]>> = {
  tokens: [
    tokens("system", "System", "src-system"),
    tokens("tools", "Tools", "src-tools"),
    tokens("summaries", "Summaries", "src-summaries"),
    tokens("notes", "Notes", "src-notes"),
    tokens("messages", "Messages", "src-messages"),
    tokens("replies", "Replies", "src-replies"),
    tokens("toolOutput", "Tool output", "src-output"),
    tokens("program", "The program’s own", "src-program"),
  ],
  cost: [
    dollars("cacheRead", "Read from cache", "src-system"),
    dollars("cacheWrite", "Written to cache", "src-tools"),
    dollars("input", "Input", "src-messages"),
    dollars("output", "Output", "src-replies"),
    dollars("summariser", "Summaries", "src-summaries"),
  ],
  cache: [
    { key: "read", label: "From cache", color: "--src-system", of: (row) => readOf(row) },
    {
      ...{ key: "fresh", label: "Not from cache", color: "--src-output" },
      of: (row) => {
        const read = readOf(row);
        return read === null ? null : Math.max(0, row.tokens.total - read);
      },
    },
  ],
};

const readOf = ({ cache }: CallRow): number | null => cache?.read ?? null;
