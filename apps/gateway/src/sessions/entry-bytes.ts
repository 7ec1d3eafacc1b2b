// What an entry takes in memory beside its text.

/** One that is whole: its objects, and what its session's reports and engines note of it. */
export const ENTRY_BYTES = 2048;

/** One whose contents are read from the file when they are asked for. */
export const ROW_BYTES = 256;
