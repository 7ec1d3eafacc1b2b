// Which neighbours in a folder, files and subfolders, import each other in a circle.
import { readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";

/** By path; what a file imports is given by path too. */
export type ImportsOf = ReadonlyMap<string, readonly string[]>;

export function readImports(paths: readonly string[]): ImportsOf {
  return new Map(
    paths.map((path) => {
      const text = readFileSync(path, "utf8");
      const found = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g);
      return [path, [...found].map(([, to]) => normalize(join(dirname(path), to ?? "")))];
    }),
  );
}

/** Each circle as "folder: one, two", names in the order of the alphabet. Types count like code. */
export function foldersInCircles(imports: ImportsOf): string[] {
  const folders = new Set([...imports.keys()].flatMap(foldersAbove));
  return [...folders].sort().flatMap((folder) => {
    const edges = edgesBetweenNeighbours(imports, folder);
    return circles(edges).map((members) => `${folder}: ${members.join(", ")}`);
  });
}

function edgesBetweenNeighbours(imports: ImportsOf, folder: string): Map<string, Set<string>> {
  const prefix = `${folder}${sep}`;
  const neighbour = (path: string) =>
    path.startsWith(prefix) ? path.slice(prefix.length).split(sep)[0] : undefined;
  const edges = new Map<string, Set<string>>();
  for (const [path, targets] of imports) {
    const from = neighbour(path);
    if (from === undefined) continue;
    const reached = edges.get(from) ?? new Set();
    edges.set(from, reached);
    for (const to of targets.map(neighbour)) if (to !== undefined && to !== from) reached.add(to);
  }
  return edges;
}

/** Two are in one circle when each reaches the other. */
function circles(edges: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reach = new Map([...edges.keys()].map((name) => [name, reachedFrom(name, edges)]));
  const circle = (name: string) =>
    [...(reach.get(name) ?? [])].filter((other) => reach.get(other)?.has(name)).sort();
  const found = new Map(
    [...edges.keys()]
      .map(circle)
      .filter((members) => members.length > 0)
      .map((members) => [members.join(), members]),
  );
  return [...found.values()];
}

function reachedFrom(start: string, edges: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>();
  const open = [...(edges.get(start) ?? [])];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    open.push(...(edges.get(name) ?? []));
  }
  return reached;
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === "." ? [] : [folder, ...foldersAbove(folder)];
}
