// The words for who said something, and the colour of where it comes from.
import type { EntryRow } from "../../src/inspect/shapes/entries.ts";
import type { SentItem } from "../../src/inspect/shapes/one-call.ts";

const ROLES: Readonly<Record<string, string>> = {
  user: "person",
  assistant: "model",
  toolResult: "tool",
  compactionSummary: "summary",
  branchSummary: "summary",
  bashExecution: "shell",
  custom: "note",
};

export const wordOfRole = (role: string): string => ROLES[role] ?? role;

/** "system", "tool schema", or who says it. */
export function wordOfItem({ part, role, summaryId }: SentItem): string {
  if (part === "system") return "system";
  if (part === "tools") return "schema";
  return summaryId !== null ? "summary" : wordOfRole(role ?? "note");
}

/** Which band of the timeline an item belongs to. */
export function bandOfItem({ part, role, summaryId }: SentItem): string {
  if (part !== "messages") return part;
  return summaryId !== null ? "summaries" : bandOfRole(role ?? "custom");
}

export const bandOfEntry = ({ role }: Pick<EntryRow, "role">): string => bandOfRole(role);

const BANDS: Readonly<Record<string, string>> = {
  user: "messages",
  assistant: "replies",
  toolResult: "output",
  compactionSummary: "summaries",
  branchSummary: "summaries",
};

const bandOfRole = (role: string): string => BANDS[role] ?? "notes";
