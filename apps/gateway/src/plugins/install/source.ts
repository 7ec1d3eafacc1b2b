// What the argument of `clew plugins install` means.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fileNotFound } from "../../file-not-found.ts";
import { invalidPlugin, requestInvalid } from "../invalid.ts";

export type PluginSource =
  | { kind: "path"; folder: string }
  | { kind: "archive"; file: string }
  | { kind: "npm" /** e.g. "@scope/name@^1". */; spec: string; name: string };

const NPM_NAME = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;

/**
 * A bare name is a package; a path starts with ".", "/" or "~". Throws
 * PLUGIN_INVALID for what is neither.
 */
export function planSource(text: string, cwd: string): PluginSource {
  const given = text.trim();
  if (given.startsWith("npm:")) return npmSource(given.slice("npm:".length), text);
  const scheme = /^([a-z][a-z+.-]*):/i.exec(given)?.[1];
  if (scheme !== undefined)
    throw requestInvalid(
      `"${given}" cannot be installed: Clew installs from npm, from a folder and from an archive, not from ${scheme}: addresses.`,
    );
  const isPath = /^(\.{1,2}($|\/)|~($|\/))/.test(given) || isAbsolute(given);
  return isPath || isArchiveName(given) ? localSource(expand(given, cwd)) : npmSource(given, text);
}

function localSource(path: string): PluginSource {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw fileNotFound(path);
  if (found.isDirectory()) return { kind: "path", folder: path };
  if (!found.isFile())
    throw invalidPlugin(
      `${path} is neither a file nor a folder (a pipe or a device may never end), so nothing is read from it; name the plugin's folder or archive.`,
    );
  if (isArchiveName(path)) return { kind: "archive", file: path };
  throw invalidPlugin(
    `${path} is neither a folder nor a .tgz, .tar.gz or .tar archive, so it is not a plugin.`,
  );
}

function npmSource(spec: string, text: string): PluginSource {
  const at = spec.indexOf("@", 1);
  const name = at < 0 ? spec : spec.slice(0, at);
  const version = at < 0 ? "latest" : spec.slice(at + 1);
  // The version part goes to npm: what could make it an address or an option is refused.
  if (!NPM_NAME.test(name) || !/^[\w.^~<>=|* -]+$/.test(version))
    throw requestInvalid(
      `"${text}" is neither a path nor an npm package; write ./folder, file.tgz, name or name@version.`,
    );
  return { kind: "npm", spec, name };
}

const isArchiveName = (path: string) => /\.(tgz|tar\.gz|tar)$/i.test(path);

function expand(path: string, cwd: string): string {
  return path === "~" || path.startsWith("~/")
    ? join(homedir(), path.slice(1))
    : resolve(cwd, path);
}
