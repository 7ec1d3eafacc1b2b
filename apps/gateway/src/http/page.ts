// Serves the page's built files, a fixed set that is read once.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

export interface PageFile {
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
}

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": "application/json",
  ".map": "application/json",
};

/** URL path → file, "/" being index.html; empty when the page was not built. */
export function loadPage(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const name of listFiles(folder)) {
    const file = {
      bytes: new Uint8Array(readFileSync(join(folder, name))),
      type: TYPES[extname(name)] ?? "application/octet-stream",
    };
    files.set(`/${name}`, file);
    if (name === "index.html") files.set("/", file);
  }
  return files;
}

function listFiles(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch {
    return [];
  }
}

/** The page talks to this server only and loads nothing from elsewhere. */
export const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
};
