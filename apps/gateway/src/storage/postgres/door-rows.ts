// Keeps the text of a door's journal as rows beside its session, a line in each.
import type { EngineRow } from "@clew/store-postgres";

/** Under which the rows stand; no plugin has an engine of this name. */
export const DOOR_ROWS = "clew:door";

const LINE = "line";
const DIGITS = 12;

/** Pure. Behind row number `before`. */
export const rowsOfText = (text: string, before = 0): EngineRow[] =>
  (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((body, at) => ({
    ...{ kind: LINE, key: String(before + at + 1).padStart(DIGITS, "0"), body },
  }));

/** Pure. The same text again. */
export const textOfRows = (rows: readonly EngineRow[]): string =>
  rows
    .filter(({ kind, body }) => kind === LINE && body !== null)
    .sort((one, other) => Number(one.key) - Number(other.key))
    .map(({ body }) => body)
    .join("");

/** Pure. Up to which numbers are taken. */
export const lastNumber = (rows: readonly EngineRow[]): number =>
  rows.reduce((last, { key }) => Math.max(last, Number(key)), 0);
