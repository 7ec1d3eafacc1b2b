// Reads the model and the method that a path of Google's API names.

export interface GooglePath {
  /** As the client calls it; it may have slashes and colons. */
  model: string;
  /** "generateContent", "countTokens" … */
  method: string;
}

/** Undefined: it names none. `path` has no query. */
export function readGooglePath(path: string): GooglePath | undefined {
  const [, model, method] = /\/models\/(.+):(\w+)$/.exec(path) ?? [];
  return model === undefined || method === undefined
    ? undefined
    : { model: decoded(model), method };
}

/** What no percent sign explains stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
