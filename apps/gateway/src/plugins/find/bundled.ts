// Where the plugins are that come with Clew.
import { createRequire } from "node:module";
import { dirname } from "node:path";

/** They are loaded as any other is; a person's own plugin of the same id goes first. */
const PACKAGES: readonly string[] = ["@clew/lossless-engine"];

/** Their folders. */
export function bundledPlugins(): string[] {
  const require = createRequire(import.meta.url);
  return PACKAGES.map((name) => dirname(require.resolve(`${name}/package.json`)));
}
