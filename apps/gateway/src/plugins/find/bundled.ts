// Where the plugins are that come with Clew.
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** They are loaded as any other is; a person's own plugin of the same id goes first, untrusted. */
const PACKAGES: readonly string[] = ["@clew/lossless-engine"];

/** Their folders. */
export function bundledPlugins(): string[] {
  const require = createRequire(import.meta.url);
  return PACKAGES.map((name) => dirname(require.resolve(`${name}/package.json`)));
}

/** What they are called. */
export const bundledIds = (): ReadonlySet<string> =>
  new Set(
    bundledPlugins().map((folder) => {
      const manifest = readFileSync(join(folder, "openclaw.plugin.json"), "utf8");
      return String((JSON.parse(manifest) as { id?: unknown }).id);
    }),
  );

/** Whether what is loaded from there comes with Clew, whatever it calls itself. */
export function bundledFolders(): (folder: string) => boolean {
  const folders = new Set(bundledPlugins().map(realPath));
  // Asked at each call of a plugin, of which there may be a hundred thousand in a second.
  const answers = new Map<string, boolean>();
  return (folder) => {
    const known = answers.get(folder) ?? folders.has(realPath(folder));
    answers.set(folder, known);
    return known;
  };
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
