// Knows which sessions belong to one tree, and shows it as lines.
import { counted } from "../text/number.ts";
import type { Child } from "./child.ts";

/** Keys of the sessions from which this one comes, nearest first; empty = nobody started it. */
export function ancestorsOf(key: string, children: readonly Child[]): string[] {
  const parents = new Map(children.map((child) => [child.key, child.parent.key]));
  const above: string[] = [];
  for (let at = parents.get(key); at !== undefined; at = parents.get(at)) {
    // A record that was changed by hand may name a circle.
    if (at === key || above.includes(at)) break;
    above.push(at);
  }
  return above;
}

/** The session that nobody started, from which this one comes. */
export const rootOf = (key: string, children: readonly Child[]): string =>
  ancestorsOf(key, children).at(-1) ?? key;

/** True: one of them comes from the other, or both from a third. */
export const isSameTree = (one: string, other: string, children: readonly Child[]): boolean =>
  rootOf(one, children) === rootOf(other, children);

/** A line for each session of the tree, children below their parents. `now`: ms since the epoch. */
export function describeTree(key: string, children: readonly Child[], now: number): string[] {
  const root = rootOf(key, children);
  const below = (parent: string, indent: string, seen: ReadonlySet<string>): string[] =>
    children
      .filter((child) => child.parent.key === parent && !seen.has(child.key))
      .flatMap((child) => [
        `${indent}- ${describeChild(child, now)}${child.key === key ? " · this session" : ""}`,
        ...below(child.key, `${indent}  `, new Set([...seen, child.key])),
      ]);
  const first = `${root}${root === key ? " · this session" : ""}`;
  return [first, ...below(root, "", new Set())];
}

function describeChild({ key, label, state, end, startedAt, task }: Child, now: number): string {
  const time = counted(Math.round(((end?.at ?? now) - startedAt) / 1000), "second");
  const how = end === null ? `${state}, ${time}` : `${end.outcome} after ${time}`;
  const named = label === null ? "" : ` "${label}"`;
  return `${key}${named} · ${how} · ${task.replace(/\s+/g, " ").slice(0, 80)}`;
}
