// Decides which folder the paths on a command line are relative to.
import { dirname } from "node:path";

/**
 * Pure. Where a command is run by a script of npm, its caller's: npm moves to the package's own
 * folder, and says from where.
 */
export function callersFolder(
  variables: Readonly<Record<string, string | undefined>>,
  folder: string,
): string {
  const { npm_package_json: manifest, INIT_CWD: caller } = variables;
  const isMoved = manifest !== undefined && dirname(manifest) === folder;
  return isMoved && caller ? caller : folder;
}
