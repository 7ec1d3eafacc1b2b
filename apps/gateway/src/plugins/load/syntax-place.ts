// Finds the line of a file that is not JavaScript, which no error of an import tells.
import { execFile } from "node:child_process";
import { relative, sep } from "node:path";

const CHECK_MS = 5000;

/**
 * "lib/store.js:2", below `root`; undefined = the file itself can be read, or nobody knows. Runs
 * none of it.
 */
export function syntaxPlace(file: string, root: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  execFile(process.execPath, ["--check", file], { timeout: CHECK_MS }, (_error, _out, told) => {
    const line = /:(\d+)$/.exec(told.split("\n", 1)[0] ?? "")?.[1];
    resolve(
      line === undefined ? undefined : `${relative(root, file).split(sep).join("/")}:${line}`,
    );
  });
  return promise;
}
