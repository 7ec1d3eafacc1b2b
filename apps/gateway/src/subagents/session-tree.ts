// Orders a list of sessions as a tree, those that a session started below it.
import { type Child, isOver } from "./child.ts";

/** What a list tells of a session that another one started. */
export interface ListedChild {
  /** Key of the session that started it. */
  parent: string;
  label: string | null;
  /** The beginning of what it was asked. */
  task: string;
  /** "running", or how it ended. */
  state: "running" | NonNullable<Child["end"]>["outcome"];
}

/** A session's place in the tree. */
export interface Placed {
  /** 0 = nobody started it, or its parent is not in the list. */
  depth: number;
  /** Null: nobody started it. */
  child: ListedChild | null;
}

/** What is known of a session that another one started, whoever keeps it. */
export interface StartedSession extends Pick<Child, "key" | "label" | "task" | "state" | "end"> {
  parent: Pick<Child["parent"], "key">;
}

/** Those that nobody started stay in their order; children follow their parent, oldest first. */
export function inTree<Row extends { key: string }>(
  rows: readonly Row[],
  children: readonly StartedSession[],
): (Row & Placed)[] {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const known = new Map(children.map((child) => [child.key, child]));
  const childrenOf = Map.groupBy(children, ({ parent }) => parent.key);
  const placed = new Map<string, Row & Placed>();
  const place = (row: Row, depth: number): void => {
    if (placed.has(row.key)) return;
    const child = known.get(row.key);
    placed.set(row.key, { ...row, depth, child: child === undefined ? null : listed(child) });
    for (const { key } of childrenOf.get(row.key) ?? []) {
      const below = byKey.get(key);
      if (below !== undefined) place(below, depth + 1);
    }
  };
  const isRoot = ({ key }: Row) => !byKey.has(known.get(key)?.parent.key ?? "");
  for (const row of rows) if (isRoot(row)) place(row, 0);
  // A record that was changed by hand may name a circle: what no root leads to comes last.
  for (const row of rows) place(row, 0);
  return [...placed.values()];
}

const listed = (child: StartedSession): ListedChild => ({
  ...{ parent: child.parent.key, label: child.label, task: child.task },
  state: isOver(child) ? child.end!.outcome : "running",
});
