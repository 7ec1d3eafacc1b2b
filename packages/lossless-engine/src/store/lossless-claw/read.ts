// Reads a database of lossless-claw, each row of it once.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Sql } from "../sql.ts";
import { conversationsIn, filesIn, othersIn } from "./lists.ts";
import { openLosslessClaw } from "./open.ts";
import { edgesIn, messagePlaces, ofNone, partsIn, summaryPlaces } from "./places.ts";
import { messageReader, summaryReader } from "./read-row.ts";
import { scanner } from "./scan.ts";
import type { ClawSource } from "./source.ts";

/**
 * Reads where everything is, in slices; others have their turn. Every row is met once, in the order
 * in which it stands, and found by its number afterwards: no index and no order of the database is
 * relied upon, so that one that somebody made up is read in time, too. Throws as `openLosslessClaw`
 * does, and REQUEST_INVALID where there are more rows than the file has room for.
 */
export async function readLosslessClaw(
  path: string,
  scratch: string,
  signal?: AbortSignal | undefined,
): Promise<ClawSource> {
  const { sql, bytes, close } = openLosslessClaw(path, scratch);
  try {
    refuseOddNumbers(sql, path);
    const scan = scanner(sql, { path, bytes, signal });
    const left: string[] = [];
    const messages = await messagePlaces(scan, sql, left);
    const summaries = await summaryPlaces(scan, sql, left);
    const parts = await partsIn(scan, sql);
    const edges = await edgesIn(scan, sql);
    const conversations = await conversationsIn(scan, sql);
    const known = new Set(conversations.map(({ id }) => id));
    left.push(...ofNone("message", messages, known), ...ofNone("summary", summaries, known));
    return {
      ...{ edges, conversations, left, close },
      files: await filesIn(scan, sql),
      others: await othersIn(scan),
      messagesOf: (conversation) => messages.get(conversation) ?? [],
      message: messageReader(sql, parts),
      summariesOf: (conversation) => summaries.get(conversation) ?? [],
      summary: summaryReader(sql),
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** Rows are found by their own numbers, which no column may hide. */
function refuseOddNumbers(sql: Sql, path: string): void {
  for (const table of ["messages", "message_parts", "summaries"])
    for (const { name } of sql("SELECT name FROM pragma_table_xinfo(?)").all(table))
      if (String(name).toLowerCase() === "rowid")
        throw new ContextEngineError(
          "REQUEST_INVALID",
          `${path} is no database of lossless-claw: its table ${table} has a column ${name}.`,
        );
}
