// Lets one of the statements of a piece of work fail as SQLite would.
import { StatementSync } from "node:sqlite";

/** A fault of SQLite: its primary result code, and what that stands for. */
export const FAULTS = { busy: 5, readOnly: 8, disk: 10, full: 13 } as const;

/** Does `work`, whose statement number `at` (from 0) fails; how many statements there were. */
export async function failingStatement(
  { at, errcode }: { at: number; errcode: number },
  work: () => unknown,
): Promise<number> {
  const originals = { ...methodsOf() };
  let count = 0;
  const failing = (original: (...given: never[]) => unknown) =>
    function (this: unknown, ...given: never[]) {
      if (count++ !== at) return original.apply(this, given);
      throw Object.assign(new Error("injected"), { code: "ERR_SQLITE_ERROR", errcode });
    };
  const { run, get, all } = originals;
  Object.assign(StatementSync.prototype, {
    ...{ run: failing(run), get: failing(get), all: failing(all) },
  });
  try {
    await work();
  } finally {
    Object.assign(StatementSync.prototype, originals);
  }
  return count;
}

function methodsOf() {
  const { run, get, all } = StatementSync.prototype;
  return { run, get, all };
}
