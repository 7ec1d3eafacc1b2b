// Where the journal of forgetting is, for whoever only asks whether there is one.
import { join } from "node:path";

/** Whether it is there or not. */
export const journalFile = (home: string): string => join(home, "forgetting.json");
