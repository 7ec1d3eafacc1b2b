// Remembers which session files this process wrote to last.

/** More are forgotten: whoever asks then has to look at all files. */
const MOST = 1_000;

let count = 0;
/** Numbers of the last writes, the newest last. */
const written = new Map<string, number>();
let forgotten = 0;

/** To be called behind every write to a session file, also one that failed. */
export function noteWrite(file: string): void {
  written.delete(file);
  written.set(file, ++count);
  const [oldest] = written;
  if (written.size <= MOST || oldest === undefined) return;
  written.delete(oldest[0]);
  forgotten = oldest[1];
}

/** What a later `writtenSince` is asked with. */
export const writesSoFar = (): number => count;

/** Undefined: nobody knows any more. */
export function writtenSince(mark: number): string[] | undefined {
  if (mark < forgotten) return undefined;
  return [...written].filter(([, number]) => number > mark).map(([file]) => file);
}
