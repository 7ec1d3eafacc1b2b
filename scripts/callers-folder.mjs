// Says where somebody typed the command that runs a script.
import { statSync } from "node:fs";

export function callersFolder() {
  const { INIT_CWD: folder = "" } = process.env;
  const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isThere ? folder : process.cwd();
}
