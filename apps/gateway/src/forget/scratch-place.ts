// Where what a database has is forgotten before it is put back.
import { join } from "node:path";

const NAME = "forgetting";

/** A folder below the home, laid out as one; it is there only meanwhile. */
export const scratchOf = (home: string): string => join(home, NAME);

/** Pure. `place`: below the home, with slashes. */
export const isInScratch = (place: string): boolean => place.startsWith(`${NAME}/`);

/** What is to be put back: as long as it is there, something is still being forgotten. */
export const scratchRecordFile = (home: string): string => join(scratchOf(home), "put-back.json");
