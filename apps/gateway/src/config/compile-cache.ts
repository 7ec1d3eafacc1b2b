// Keeps what is loaded in compiled form, so that the next start need not compile it again.
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * In a folder of the user's own: in the one for temporary files anybody could put code there. Who
 * set NODE_COMPILE_CACHE chose another one, and NODE_DISABLE_COMPILE_CACHE has none; where it
 * cannot be written all is compiled as before.
 */
export function keepCompiled(
  variables: Readonly<Record<string, string | undefined>> = process.env,
): void {
  enableCompileCache(compileCacheFolder(variables, homedir()));
}

/** Pure. */
export const compileCacheFolder = (
  { XDG_CACHE_HOME = "" }: Readonly<Record<string, string | undefined>>,
  userHome: string,
): string => join(XDG_CACHE_HOME || join(userHome, ".cache"), "clew", "compiled");
