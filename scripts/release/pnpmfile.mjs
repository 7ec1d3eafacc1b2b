// Tells pnpm what to do to a manifest before it packs.
import { readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { publishedManifest } from "./manifest.mjs";

const checkout = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export const hooks = {
  beforePacking(manifest, folder) {
    const root = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
    const directory = relative(checkout, folder).split(sep).join("/");
    return publishedManifest(manifest, { root, directory });
  },
};
