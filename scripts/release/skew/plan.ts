// Which release is compared with which, and what the next one may break.
import { parse } from "yaml";

export type Bump = "none" | "patch" | "minor" | "major";

const BUMPS: readonly Bump[] = ["none", "patch", "minor", "major"];

/** Pure. The newest release among git's tags, "name@version"; undefined = there was none. */
export function lastRelease(tags: readonly string[], name: string): string | undefined {
  return tags
    .filter((tag) => tag.startsWith(`${name}@`) && /@\d+\.\d+\.\d+$/.test(tag))
    .sort((left, right) => compareVersions(versionOf(left), versionOf(right)))
    .at(-1);
}

const versionOf = (tag: string) => tag.slice(tag.lastIndexOf("@") + 1);

function compareVersions(left: string, right: string): number {
  const [a, b] = [left, right].map((version) => version.split(".").map(Number));
  const place = a!.findIndex((number, index) => number !== b![index]);
  return place < 0 ? 0 : a![place]! - b![place]!;
}

/** Pure. What waiting changesets do to a package; "none" when no one names it. */
export function plannedBump(changesets: readonly string[], name: string): Bump {
  const named = changesets.map((text): Bump => {
    const front = /^---\r?\n([\s\S]*?)\r?\n?---/.exec(text)?.[1] ?? "";
    return (parse(front) as Record<string, Bump> | null)?.[name] ?? "none";
  });
  return BUMPS[Math.max(0, ...named.map((bump) => BUMPS.indexOf(bump)))]!;
}

/** Pure. The version after `bump`; at least a patch, so that two can stand side by side. */
export function nextVersion(version: string, bump: Bump): string {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (bump === "major") return `${major + 1}.0.0`;
  if (bump === "minor") return `${major}.${minor + 1}.0`;
  return `${major}.${minor}.${patch + 1}`;
}

/** Pure. Whether code written for `from` may have to be changed for `to`. */
export function mayBreak(from: string, to: string): boolean {
  const [a, b] = [from, to].map((version) => version.split("."));
  return a![0] !== b![0] || (a![0] === "0" && a![1] !== b![1]);
}
