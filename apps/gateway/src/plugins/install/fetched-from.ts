// Tells from where else than from npm's registry the files of a plugin came.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const LockSchema = z.looseObject({
  packages: z.record(z.string(), z.looseObject({ resolved: z.string().optional() })),
});

const NPM_HOST = "registry.npmjs.org";

/** Hosts, each once, as npm noted them; `registry`: the one that it was told to use. */
export function fetchedFrom(folder: string, registry: string | undefined): string[] {
  const own = new Set([NPM_HOST, hostOf(registry ?? "")]);
  const places = notedIn(folder).flatMap((address) => {
    const host = hostOf(address);
    return host === null || own.has(host) ? [] : [host];
  });
  return [...new Set(places)].sort();
}

function notedIn(folder: string): string[] {
  try {
    const text = readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8");
    const { packages } = LockSchema.parse(JSON.parse(text));
    return Object.values(packages).flatMap(({ resolved }) => resolved ?? []);
  } catch {
    return [];
  }
}

/** Null: it is no address of another machine, as of an archive that is here. */
function hostOf(address: string): string | null {
  try {
    return new URL(address).host || null;
  } catch {
    return null;
  }
}
