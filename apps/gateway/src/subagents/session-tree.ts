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

/**
 * Those that nobody started stay in their order; children follow their parent, oldest first. Where
 * records name a circle of parents, the first of its rows stands as if nobody had started it.
 */
export function inTree<Row extends { key: string }>(
  rows: readonly Row[],
  children: readonly StartedSession[],
): (Row & Placed)[] {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const known = new Map(children.map((child) => [child.key, child]));
  const childrenOf = Map.groupBy(known.values(), ({ parent }) => parent.key);
  const parentOf = (key: string) => byKey.get(known.get(key)?.parent.key ?? "")?.key;
  const roots = rootsAmong(rows, parentOf);
  const placed = new Map<string, Row & Placed>();
  for (const root of roots) {
    const next = [{ row: root, depth: 0 }];
    for (let last = next.pop(); last !== undefined; last = next.pop()) {
      const { row, depth } = last;
      if (placed.has(row.key)) continue;
      const child = known.get(row.key);
      placed.set(row.key, { ...row, depth, child: child === undefined ? null : listed(child) });
      for (const { key } of childrenOf.get(row.key)?.toReversed() ?? []) {
        const below = byKey.get(key);
        if (below !== undefined) next.push({ row: below, depth: depth + 1 });
      }
    }
  }
  return [...placed.values()];
}

/** In their order: those without a parent, and one of each circle. All others are below them. */
function rootsAmong<Row extends { key: string }>(
  rows: readonly Row[],
  parentOf: (key: string) => string | undefined,
): Row[] {
  const circles = new Set<string>();
  const seen = new Map<string, string>();
  for (const { key: from } of rows) {
    let at: string | undefined = from;
    for (; at !== undefined && !seen.has(at); at = parentOf(at)) seen.set(at, from);
    // Met on the way from here: it is on a circle that nobody has met before.
    if (at === undefined || seen.get(at) !== from) continue;
    for (let on = at; !circles.has(on); on = parentOf(on)!) circles.add(on);
  }
  const met = new Set<string>();
  return rows.filter(({ key }) => {
    if (!circles.has(key)) return parentOf(key) === undefined;
    const isFirst = !met.has(key);
    for (let on = key; !met.has(on); on = parentOf(on)!) met.add(on);
    return isFirst;
  });
}

const listed = (child: StartedSession): ListedChild => ({
  ...{ parent: child.parent.key, label: child.label, task: child.task },
  state: isOver(child) ? child.end!.outcome : "running",
});
