// Decides where Clew's home and settings file are, before anything large is loaded.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { callersFolder } from "./callers-folder.ts";

export interface Places {
  /** Absolute. */
  home: string;
  /** Absolute; the file need not be there. */
  configFile: string;
}

/** Blank variables count as unset. */
export function readPlaces(
  variables: Readonly<Record<string, string | undefined>> = process.env,
  folder: string = callersFolder(variables, process.cwd()),
): Places {
  const variable = (name: string) => variables[name]?.trim() || undefined;
  const home = resolve(folder, variable("CLEW_HOME") ?? join(homedir(), ".clew"));
  return { home, configFile: resolve(folder, variable("CLEW_CONFIG") ?? join(home, "clew.json")) };
}
