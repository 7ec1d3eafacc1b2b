// Finds in which rows messages, parts and summaries stand, and what was made of what.
import type { Sql } from "../sql.ts";
import { bytesOf, CONVERSATION, ROW, short, textOf } from "./columns.ts";
import type { Scan } from "./scan.ts";
import type { ClawEdges, ClawRow } from "./source.ts";

/** By conversation, in the order of a column, then of their ids. */
async function placesOf<Id extends number | string>(
  scan: Scan,
  sql: Sql,
  table: string,
  ids: readonly string[],
  order: readonly string[],
  idOf: (value: unknown) => Id,
  left: string[],
): Promise<ReadonlyMap<number, readonly ClawRow<Id>[]>> {
  const found = new Map<number, (ClawRow<Id> & { at: number })[]>();
  const columns = `
    ${ROW}, ${short(sql, table, ...ids)} AS id, ${short(sql, table, ...order)} AS at,
    ${short(sql, table, ...CONVERSATION)} AS conversation
  `;
  await scan(table, columns, ({ row, id, at, conversation }) => {
    if (row === null) {
      left.push(`a row of ${table} whose number is beyond 2^53`);
      return;
    }
    const places = found.get(Number(conversation)) ?? [];
    found.set(Number(conversation), places);
    // Those without a place come last.
    places.push({
      ...{ row: Number(row), id: idOf(id) },
      at: typeof at === "number" ? at : Infinity,
    });
  });
  for (const places of found.values())
    places.sort((a, b) =>
      a.at === b.at ? (a.id < b.id ? -1 : a.id > b.id ? 1 : a.row - b.row) : a.at - b.at,
    );
  return found;
}

export const messagePlaces = (scan: Scan, sql: Sql, left: string[]) =>
  placesOf(scan, sql, "messages", ["message_id", "id"], ["seq"], Number, left);

export const summaryPlaces = (scan: Scan, sql: Sql, left: string[]) =>
  placesOf(scan, sql, "summaries", ["summary_id", "id"], ["depth"], textOf, left);

/** What belongs to conversations that are not there. */
export const ofNone = (
  what: "message" | "summary",
  places: ReadonlyMap<number, readonly unknown[]>,
  known: ReadonlySet<number>,
): string[] =>
  [...places]
    .filter(([conversation]) => !known.has(conversation))
    .map(([conversation, { length }]) => {
      const many = what === "message" ? "messages" : "summaries";
      return `${length === 1 ? `a ${what}` : `${length} ${many}`} of conversation ${conversation}, which is not there`;
    });

/** Places of parts, and their order, by the id of their message; how many bytes they take. */
export interface Parts {
  readonly places: readonly { readonly row: number; readonly ordinal: number }[];
  readonly bytes: number;
}

export const PART_TEXTS = ["text_content", "tool_input", "tool_output", "metadata"];

export async function partsIn(scan: Scan, sql: Sql): Promise<ReadonlyMap<number, Parts>> {
  const found = new Map<number, { places: { row: number; ordinal: number }[]; bytes: number }>();
  const table = "message_parts";
  const columns = `
    ${ROW}, ${short(sql, table, "message_id", "message")} AS message,
    ${short(sql, table, "ordinal")} AS ordinal, ${bytesOf(sql, table, PART_TEXTS)} AS bytes
  `;
  await scan(table, columns, ({ row, message, ordinal, bytes }) => {
    const parts = found.get(Number(message)) ?? { places: [], bytes: 0 };
    found.set(Number(message), parts);
    if (row !== null) parts.places.push({ row: Number(row), ordinal: Number(ordinal) });
    parts.bytes += Number(bytes);
  });
  for (const { places } of found.values()) places.sort((a, b) => a.ordinal - b.ordinal);
  return found;
}

export async function edgesIn(scan: Scan, sql: Sql): Promise<ClawEdges> {
  const edges = async <Id>(table: string, name: string, idOf: (value: unknown) => Id) => {
    const found = new Map<Id, string[]>();
    const columns = `${short(sql, table, "summary_id")} AS summary, ${short(sql, table, name)} AS id`;
    await scan(table, columns, ({ summary, id }) => {
      const known = found.get(idOf(id));
      if (known === undefined) found.set(idOf(id), [String(summary)]);
      else known.push(String(summary));
    });
    return found;
  };
  return {
    aboveMessages: await edges("summary_messages", "message_id", Number),
    // A condensed summary has "parents": those that it was made of.
    aboveSummaries: await edges("summary_parents", "parent_summary_id", textOf),
  };
}
