// Finds out whether the disk of a database has room for what is said next.
import { kindOf } from "./failure.ts";

/** About a megabyte, on the disk of the database, and gone with the transaction. */
const WRITE = `
  create temporary table clew_room on commit drop as
  select repeat(md5(n::text), 32) as text from generate_series(1, 1024) n`;

/**
 * `run`: SQL in one transaction. Null: this user may make no temporary table, or it is the fault of
 * something else.
 */
export async function triesToWrite(
  run: (text: string) => Promise<unknown>,
): Promise<boolean | null> {
  try {
    await run(WRITE);
    return true;
  } catch (error) {
    return kindOf(error) === "full" ? false : null;
  }
}
