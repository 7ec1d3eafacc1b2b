// What one open database is asked by.
import type { StatementSync } from "node:sqlite";

/** The statement of a text, prepared once per database. */
export type Sql = (text: string) => StatementSync;
