// Finds the packages of the workspace and the order in which they are released.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  engines?: { node?: string };
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  exports?: Record<string, unknown>;
  imports?: Record<string, unknown>;
  bin?: Record<string, string>;
  [field: string]: unknown;
}

export interface Package {
  name: string;
  /** Relative to the root, with slashes. */
  directory: string;
  manifest: Manifest;
}

const GROUPS = ["packages", "apps", "apps/examples"];

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** Pure. The versions that `catalog:` stands for, of a pnpm-workspace.yaml. */
export const catalogOf = (workspace: string): Record<string, string> =>
  (parse(workspace) as { catalog?: Record<string, string> } | null)?.catalog ?? {};

/** Every package of the workspace, private ones too, by folder name. */
export function workspacePackages(root: string): Package[] {
  return GROUPS.flatMap((group) =>
    existsSync(join(root, group))
      ? readdirSync(join(root, group))
          .sort()
          .map((name) => `${group}/${name}`)
          .filter((directory) => existsSync(join(root, directory, "package.json")))
          // A workspace of its own is none of this one's packages.
          .filter((directory) => !existsSync(join(root, directory, "pnpm-workspace.yaml")))
          .map((directory) => {
            const manifest = readManifest(join(root, directory));
            return { name: manifest.name, directory, manifest };
          })
      : [],
  );
}

/** Pure. The packages that are published, each after those of them it depends on. */
export function releaseOrder(packages: readonly Package[]): Package[] {
  const released = new Map(
    packages.filter(({ manifest }) => manifest.private !== true).map((each) => [each.name, each]),
  );
  const ordered = new Set<Package>();
  const place = (each: Package, waiting: readonly Package[]): void => {
    if (ordered.has(each) || waiting.includes(each)) return;
    const { dependencies, peerDependencies, optionalDependencies } = each.manifest;
    for (const name of Object.keys({
      ...dependencies,
      ...peerDependencies,
      ...optionalDependencies,
    })) {
      const needed = released.get(name);
      if (needed !== undefined) place(needed, [...waiting, each]);
    }
    ordered.add(each);
  };
  for (const each of released.values()) place(each, []);
  return [...ordered];
}
