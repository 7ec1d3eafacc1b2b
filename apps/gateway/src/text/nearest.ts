// Finds the known name that a mistyped one was meant to be.

/**
 * The closest of `candidates` when a slip of the finger explains the difference: a third of the
 * last name, at most 3 edits.
 */
export const nearestOf = (path: string, candidates: readonly string[]): string | null =>
  nearestBy(lastName, path, candidates);

/** The same of names that may hold dots, such as those of models. */
export const nearestName = (name: string, candidates: readonly string[]): string | null =>
  nearestBy((whole) => whole, name, candidates);

/** " Did you mean "…"?", where there is something near; else nothing. */
export function didYouMean(name: string, candidates: readonly string[]): string {
  const nearest = nearestName(name, candidates);
  return nearest === null ? "" : ` Did you mean "${nearest}"?`;
}

function nearestBy(
  compared: (name: string) => string,
  given: string,
  candidates: readonly string[],
): string | null {
  const name = compared(given);
  const limit = Math.min(3, Math.max(1, Math.floor(name.length / 3)));
  const ranked = candidates.map((candidate) => ({
    candidate,
    distance: editDistance(name.toLowerCase(), compared(candidate).toLowerCase()),
  }));
  const best = ranked.sort((a, b) => a.distance - b.distance)[0];
  return best !== undefined && best.distance <= limit ? best.candidate : null;
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const edits = [
        previous[column]! + 1,
        current[column - 1]! + 1,
        previous[column - 1]! + (same ? 0 : 1),
      ];
      current.push(Math.min(...edits, swapped ? older[column - 2]! + 1 : Number.POSITIVE_INFINITY));
    }
    older = previous;
    previous = current;
  }
  return previous[b.length]!;
}
