// Gives plugins a home of their own where they look for the person's.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Where a plugin's own files are: what it finds as the person's home, and its services' folder. */
export const dataFolder = (home: string, pluginId: string): string =>
  join(home, "plugin-data", pluginId);

/** The same folder, which is there afterwards. An entry of several belongs to its plugin. */
export function madeDataFolder(home: string, pluginId: string): string {
  const folder = dataFolder(home, pluginId.split("/")[0]!);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** A file that is not there: its text is made when it is loaded. */
const REQUIRED = ".clew-own-home.cjs";

/** Whether a module of a plugin asks for the module that knows the home. */
export const asksForHome = (specifier: string): boolean =>
  specifier === "os" || specifier === "node:os";

/**
 * The module that a plugin is given instead: all of it is Node's but the home. The folder is made
 * when it is asked for, so that plugins that never ask leave none.
 */
export function ownHomeUrl({
  root,
  ownHome,
  isRequired,
}: {
  root: string;
  ownHome: string;
  isRequired: boolean;
}): string {
  if (isRequired) return pathToFileURL(join(root, REQUIRED)).href;
  const code = [
    'import * as os from "node:os";',
    functions(ownHome),
    'export * from "node:os";',
    "export { homedir, userInfo };",
    "export default { ...os.default, homedir, userInfo };",
  ];
  return `data:text/javascript,${encodeURIComponent(code.join("\n"))}`;
}

/** The text of what `require` is given; undefined = another module. */
export function ownHomeSource(url: string, ownHome: string): string | undefined {
  if (!url.split("?")[0]!.endsWith(`/${REQUIRED}`)) return undefined;
  return [
    'const os = process.getBuiltinModule("node:os");',
    functions(ownHome),
    "module.exports = { ...os, homedir, userInfo };",
  ].join("\n");
}

/** `os` is in scope. A folder that cannot be made is told by whoever wants to write there. */
const functions = (ownHome: string) => `const home = ${JSON.stringify(ownHome)};
function homedir() {
  try {
    process.getBuiltinModule("node:fs").mkdirSync(home, { recursive: true, mode: 0o700 });
  } catch {}
  return home;
}
const userInfo = (options) => ({ ...os.userInfo(options), homedir: homedir() });`;
