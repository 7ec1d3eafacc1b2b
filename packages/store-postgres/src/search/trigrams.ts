// Makes the index of trigrams where the database has their extension.
import type { Database } from "../database.ts";
import { storageFailed } from "../failure.ts";
import { codeOf } from "../passing.ts";

/** Whoever makes it beside another who does is told that it is there. */
const IS_THERE = /^(?:23505|42P07|42710|XX000)$/;
/** No such extension, not for this user, or in a schema that is not looked through. */
const CANNOT_BE_HAD = /^(?:0A000|42501|42704|58P01|22023)$/;

const MAKE = `
  create extension if not exists pg_trgm;
  create index if not exists search_trigrams on search using gin (text gin_trgm_ops)
    with (gin_pending_list_limit = 1024) where not is_bulk`;

export const TRIGRAMS = {
  name: "search-trigrams",
  text: "select to_regclass('search_trigrams') is not null as is_there",
};

/** True: there is the index of trigrams. */
export async function hasTrigramIndex(database: Database): Promise<boolean> {
  const [row] = await database.ask<{ is_there: boolean }>(TRIGRAMS, []);
  return row?.is_there === true;
}

/** Without it texts are found by looking through messages. Throws STORAGE_FAILED. */
export async function makeTrigramIndex(database: Database): Promise<void> {
  if (await hasTrigramIndex(database)) return;
  for (let again = 0; ; again++)
    try {
      return await database.change(async () => MAKE);
    } catch (error) {
      const code = codeOf(error) ?? "";
      if (CANNOT_BE_HAD.test(code)) return;
      if (again === 3 || !IS_THERE.test(code)) throw storageFailed(error);
    }
}
