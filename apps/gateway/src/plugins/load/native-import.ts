// Loads a module the way Node does: the one file that test runners and bundlers must leave alone.

/** `url` is a file URL. */
export const nativeImport = (url: string): Promise<unknown> => import(url);
