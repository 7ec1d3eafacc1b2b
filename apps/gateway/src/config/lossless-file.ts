// Finds the database file of the lossless engine from its settings.
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Config } from "./schema.ts";

/** Pure. As the engine finds it; `folder` is the agent's, `named` its setting databasePath. */
export function losslessFile(folder: string, named: string | undefined): string {
  if (named === undefined) return join(folder, "clew-lossless", "lossless.db");
  if (named === "~" || named.startsWith("~/")) return join(homedir(), named.slice(1));
  return isAbsolute(named) ? named : join(folder, named);
}

/** Pure. What the settings say of how and where it keeps messages. */
export function losslessStoreSettings({ plugins }: Pick<Config, "plugins">): {
  databasePath: string | undefined;
  compress: boolean;
} {
  const { databasePath, compress } = (plugins.entries?.lossless?.config ?? {}) as {
    databasePath?: unknown;
    compress?: unknown;
  };
  return {
    databasePath: typeof databasePath === "string" ? databasePath : undefined,
    compress: compress === true,
  };
}
