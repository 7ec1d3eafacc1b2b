// Copies what the door knows of a session between its file and rows of a database.
import { readFile } from "node:fs/promises";
import type { RowsToPut } from "@clew/store-postgres";
import { DOOR_ROWS, rowsOfText, textOfRows } from "../postgres/door-rows.ts";
import type { CopyOut } from "./result.ts";
import type { HomeFile } from "./walk-home.ts";

export const isDoorJournal = ({ place, kind }: Pick<HomeFile, "place" | "kind">): boolean =>
  kind === "file" && place.endsWith(".jsonl.door");

/** What a database has in rows, and which file that is. */
export interface DoorRows {
  file: HomeFile;
  rows: RowsToPut;
}

/** Undefined: there is none, or it is no text, and is kept as it is. */
export async function doorRowsIn(files: readonly HomeFile[]): Promise<DoorRows | undefined> {
  const file = files.find(isDoorJournal);
  if (file === undefined) return undefined;
  const bytes = await readFile(file.path);
  const text = bytes.toString("utf8");
  if (text === "" || text.includes("\0") || !Buffer.from(text).equals(bytes)) return undefined;
  return { file, rows: { engine: DOOR_ROWS, rows: rowsOfText(text), isAll: true } };
}

/** Undefined: there are no rows of it. */
export async function doorTextOf(
  copy: CopyOut["copy"],
  session: { agentId: string; sessionId: string },
): Promise<string | undefined> {
  const text = textOfRows(await copy.engineRows(session, DOOR_ROWS));
  return text === "" ? undefined : text;
}
