// Reads the cost caps as the settings have them now.
import { statSync } from "node:fs";
import type { CostCaps } from "../config/cost-caps.ts";
import type { Environment } from "../config/environment.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";

export interface CapsReaderOptions {
  environment: Pick<Environment, "configFile">;
  /** What counts where there is no file. */
  loaded: Pick<LoadedConfig, "config">;
}

/** A file that did not change is not read again: this is asked before each model call. */
export function createCapsReader({
  environment: { configFile },
  loaded,
}: CapsReaderOptions): () => Promise<CostCaps> {
  let known: { stamp: string; caps: CostCaps } | undefined;
  return async () => {
    const stamp = stampOf(configFile);
    if (known?.stamp === stamp) return known.caps;
    const { config, exists } = await loadConfig(configFile);
    const { costCaps: caps } = (exists ? config : loaded.config).gateway;
    known = { stamp, caps };
    return caps;
  };
}

/** Not worth a round of the loop: every client waits for it. "": there is no file to be read. */
function stampOf(file: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return "";
  }
}
