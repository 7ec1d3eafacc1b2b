// Loads a module the way Node does, untouched by bundlers and test runners.
export const nativeImport = (url: string): Promise<unknown> => import(url);
