// Loads a module the way Node does, past test runners and bundlers.

/** `url` is a file URL. */
export const nativeImport = (url: string): Promise<unknown> => import(url);
