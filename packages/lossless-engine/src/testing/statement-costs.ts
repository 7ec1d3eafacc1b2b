// Counts the statements that work runs and the rows that it reads.
import { StatementSync } from "node:sqlite";

/** What was asked of a database. */
export interface StatementCosts {
  statements: number;
  rows: number;
}

/** Statements that `work` runs, and rows that it reads. */
export async function costOf(work: () => unknown): Promise<StatementCosts> {
  const cost: StatementCosts = { statements: 0, rows: 0 };
  const { run, get, all } = StatementSync.prototype;
  const counted = (original: (...given: never[]) => unknown) =>
    function (this: unknown, ...given: never[]) {
      const answer = original.apply(this, given);
      cost.statements++;
      cost.rows += Array.isArray(answer) ? answer.length : original === get ? 1 : 0;
      return answer;
    };
  Object.assign(StatementSync.prototype, {
    ...{ run: counted(run), get: counted(get), all: counted(all) },
  });
  try {
    await work();
  } finally {
    Object.assign(StatementSync.prototype, { run, get, all });
  }
  return cost;
}
