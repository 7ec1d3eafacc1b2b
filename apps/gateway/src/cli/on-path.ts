// Says whether a program can be started by its name.
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Environment } from "../config/environment.ts";

export async function isOnPath(bin: string, { variable }: Pick<Environment, "variable">) {
  const folders = (variable("PATH") ?? "").split(delimiter).filter((folder) => folder !== "");
  const found = await Promise.all(folders.map((folder) => isProgram(join(folder, bin))));
  return found.includes(true);
}

export const isProgram = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
