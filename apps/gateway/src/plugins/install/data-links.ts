// Says why a plugin's data cannot be copied or exchanged as one.
import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { agentFolder } from "../../sessions/paths.ts";
import { isInside } from "../find/manifest.ts";

/**
 * Why what stands at one of the places cannot be copied or moved in one step, as a sentence without
 * its end; null: it all can. What lies behind a link out of them stays as it is whatever is moved.
 */
export function dataFault(home: string, places: readonly { path: string }[]): string | null {
  const paths = places.map(({ path }) => path);
  for (const path of paths) {
    const fault = placeFault(home, path);
    if (fault !== null) return `${path} ${fault}`;
    const inside = faultBelow({ at: path, is: path, paths, device: statSync(home).dev });
    if (inside !== null) return inside;
  }
  return null;
}

/** The same of what was kept of such places below `copies`, by their names. */
export function copyFault(
  home: string,
  copies: string,
  places: readonly { path: string; name: string }[],
): string | null {
  const paths = places.map(({ path }) => path);
  const device = statSync(home).dev;
  for (const { path, name } of places) {
    const fault = faultBelow({ at: join(copies, name), is: path, paths, device });
    if (fault !== null) return fault;
  }
  return null;
}

function placeFault(home: string, path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (stats.isSymbolicLink()) return `is a link to ${readlinkSync(path)}`;
  const [top, agentId] = relative(home, path).split(sep);
  const base = top === "agents" ? agentFolder(home, agentId ?? "") : dirname(path);
  if (realpathSync(path) !== join(realpathSync(base), relative(base, path)))
    return `leads elsewhere, to ${realpathSync(path)}`;
  return stats.dev === statSync(home).dev ? null : ON_ANOTHER_DISK;
}

const ON_ANOTHER_DISK = "lies on another disk than the home";

interface Looked {
  /** Where it is read, and where it stands when it is in use. */
  at: string;
  is: string;
  /** All places: a link from one into another is moved with both. */
  paths: readonly string[];
  device: number;
}

function faultBelow({ at, is, paths, device }: Looked): string | null {
  const stats = lstatSync(at, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (stats.isSymbolicLink()) {
    const target = readlinkSync(at);
    return leadsOut(is, target, paths) ? `${is} is a link to ${target}` : null;
  }
  if (!stats.isDirectory()) return null;
  if (stats.dev !== device) return `${is} ${ON_ANOTHER_DISK}`;
  for (const name of readdirSync(at)) {
    const fault = faultBelow({ at: join(at, name), is: join(is, name), paths, device });
    if (fault !== null) return fault;
  }
  return null;
}

/** By its words and by what they come to: ".." after another link is not what it reads like. */
function leadsOut(link: string, target: string, paths: readonly string[]): boolean {
  const leads = resolve(dirname(link), target);
  const isOf = (file: string) =>
    paths.some((path) => isInside(path, file) || isInside(realOf(path), file));
  return !isOf(leads) || !isOf(realOf(leads));
}

/** What is not there is what it is called. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
