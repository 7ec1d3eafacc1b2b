// Writes a word so that a shell reads it as it is, in commands that people copy.

const PLAIN = /^[\w@%+:,./-]+$/;

/** Pure. In single quotes where it needs any. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
