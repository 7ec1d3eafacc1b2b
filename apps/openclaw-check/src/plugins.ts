// Packs the plugins that are tried, and says what is to be seen of each.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FACT } from "./session-script.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const CLEW = join(ROOT, "apps/gateway/dist/main.js");

export interface TriedPlugin {
  /** Of the plugin and of its engine. */
  id: string;
  /** Of its source, below the repository. */
  folder: string;
  /** What only its engine puts into a request, once there is enough to shorten. */
  mark: RegExp | null;
  /** Whose summary stands after a compaction: its own, or the host's. */
  compacts: "itself" | "host";
  recall?: { tool: string; parameters: object };
}

export const PLUGINS: readonly TriedPlugin[] = [
  {
    ...{ id: "example-minimal", folder: "apps/examples/minimal-engine" },
    ...{ mark: null, compacts: "host" },
  },
  {
    ...{ id: "example-delegating", folder: "apps/examples/delegating-engine" },
    ...{ mark: /\[\d+ more characters not shown\]/, compacts: "host" },
  },
  {
    ...{ id: "example-owning", folder: "apps/examples/owning-engine" },
    ...{ mark: null, compacts: "itself" },
  },
  {
    ...{ id: "lossless", folder: "packages/lossless-engine" },
    ...{ mark: /lcm_grep/, compacts: "itself" },
    recall: { tool: "lcm_grep", parameters: { pattern: FACT } },
  },
];

/** One file that both hosts install; absolute path. */
export function packed({ id, folder }: TriedPlugin, into: string): string {
  mkdirSync(into, { recursive: true });
  const out = join(into, `${id}.tgz`);
  execFileSync(process.execPath, [CLEW, "plugins", "pack", folder, "--out", out], { cwd: ROOT });
  return out;
}

/**
 * The same, with an entry before its own that writes down the calls of its engines. The plugin's
 * own file stays as it is.
 */
export function traced(archive: string, id: string, into: string): string {
  const folder = join(into, `${id}-traced`);
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["-xzf", archive, "-C", folder, "--strip-components=1"]);
  const file = join(folder, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as {
    openclaw: { extensions: [string] };
  };
  const [entry] = manifest.openclaw.extensions;
  const text = readFileSync(new URL("trace-entry.js", import.meta.url), "utf8");
  writeFileSync(join(folder, "trace.js"), text.replace("PLUGIN_ENTRY", entry));
  manifest.openclaw.extensions = ["./trace.js"];
  writeFileSync(file, JSON.stringify(manifest));
  const name = execFileSync("npm", ["pack", "--silent", "--pack-destination", into], {
    ...{ cwd: folder, encoding: "utf8" },
  });
  return join(into, name.trim());
}
