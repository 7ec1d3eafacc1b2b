// Takes each number of a sender once, within a bound of memory.

export interface NumbersOnce {
  /** False: it was taken before, or is so old that nobody knows. */
  take(sender: string, number: number): boolean;
  forgetAllBut(senders: { has(sender: string): boolean }): void;
}

/** Requests of one sender may overtake each other by so many. */
const WINDOW = 10_000;

export function createNumbersOnce({ window = WINDOW } = {}): NumbersOnce {
  const senders = new Map<string, { highest: number; taken: Set<number> }>();
  return {
    take(sender, number) {
      const known = senders.get(sender) ?? { highest: 0, taken: new Set<number>() };
      senders.set(sender, known);
      if (number <= known.highest - window || known.taken.has(number)) return false;
      known.taken.add(number);
      known.highest = Math.max(known.highest, number);
      if (known.taken.size > 2 * window)
        for (const old of known.taken) if (old <= known.highest - window) known.taken.delete(old);
      return true;
    },
    forgetAllBut(kept) {
      for (const sender of senders.keys()) if (!kept.has(sender)) senders.delete(sender);
    },
  };
}
