// What a search finds an entry of a session by.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { fromJson } from "../../own-json.ts";
import { saidIn } from "../format-entry.ts";
import { shownEntry } from "../shown.ts";

/** All that a terminal shows of a message below its heading; null: nothing. */
export function searchedText(entry: TranscriptEntry): string | null {
  const shown = shownEntry(entry);
  if (shown?.type !== "message") return null;
  const text = saidIn(shown.message).join("\n");
  return text === "" ? null : text;
}

/** The same of an entry as its line. */
export const searchTextOfLine = (line: string): string | null =>
  searchedText(fromJson(line) as TranscriptEntry);
