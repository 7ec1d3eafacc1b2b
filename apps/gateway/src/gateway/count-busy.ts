// Counts the turns that run in a gateway, and those that wait behind them.

/** What goes on, by canonical keys of sessions. */
export interface Busy {
  /** Pieces of work that run or wait. */
  work: ReadonlyMap<string, number>;
  /** Turns of the door that are answered. */
  atDoor: ReadonlyMap<string, number>;
  /** Of the work, what the door stores of replies. */
  storing: ReadonlyMap<string, number>;
  /** Messages and requests that wait, in all. */
  backlog: number;
}

/** Pure. */
export function countBusy({ work, atDoor, storing, backlog }: Busy): {
  running: number;
  waiting: number;
} {
  // What the door stores, meanwhile and behind a reply, is no turn of its own.
  const counts = [...work].flatMap(([key, count]) => {
    const left = atDoor.has(key) ? 0 : count - (storing.get(key) ?? 0);
    return left > 0 ? [left] : [];
  });
  const all = counts.reduce((sum, count) => sum + count, 0);
  const replies = [...atDoor.values()].reduce((sum, count) => sum + count, 0);
  return { running: counts.length + replies, waiting: all - counts.length + backlog };
}
