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
  const placed = new Set<string>();
  const place = (row: Row, depth: number): (Row & Placed)[] => {
    if (placed.has(row.key)) return [];
    placed.add(row.key);
    const below = (childrenOf.get(row.key) ?? []).flatMap(({ key }) => byKey.get(key) ?? []);
    const child = known.get(row.key);
    return [
      { ...row, depth, child: child === undefined ? null : listed(child) },
      ...below.flatMap((each) => place(each, depth + 1)),
    ];
  };
  const isRoot = ({ key }: Row) => !byKey.has(known.get(key)?.parent.key ?? "");
  // A record that was changed by hand may name a circle: what no root leads to comes last.
  return [...rows.filter(isRoot), ...rows].flatMap((row) => place(row, 0));
}

const listed = (child: StartedSession): ListedChild => ({
  ...{ parent: child.parent.key, label: child.label, task: child.task },
  state: isOver(child) ? child.end!.outcome : "running",
});
