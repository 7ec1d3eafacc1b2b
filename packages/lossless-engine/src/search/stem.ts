// With which letters a word begins, whatever its ending.

/** Letters that a stem may lack or change: "running" and "run", "studies" and "study". */
const ENDING = 4;
const LEAST = 3;

/** Lower case. */
export const stemOf = (word: string): string =>
  word.toLowerCase().slice(0, Math.max(LEAST, word.length - ENDING));
