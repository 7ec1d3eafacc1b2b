// Tells a key that was put where its variable or its command is named.

/** Beginnings that providers give to their keys. */
const PREFIX = /^(?:sk|pk|rk|gsk|hf|xai|nvapi|pplx|csk|fw|r8|tgp|ghp|gho|ghu|github_pat)[-_]/;
/** The usual way in which variables are named. */
const UPPER_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;
/** Shorter words are names, unless they begin as keys do. */
const LEAST_CHARS = 16;
/** Names have shorter stretches of letters and digits. */
const MIXED_CHARS = 12;

/** Pure. */
export const beginsLikeKey = (word: string): boolean => PREFIX.test(word);

/** Pure. One word that is no name of anything; whoever asks knows of variables and programs. */
export function looksLikeKey(word: string): boolean {
  if (/[\s/\\]/.test(word) && !/^[\w-]*[A-Za-z0-9+/]{32,}={0,2}$/.test(word)) return false;
  if (/^[/.~]/.test(word)) return false;
  if (UPPER_NAME.test(word)) return false;
  const mixed = word.split(/[^A-Za-z0-9]+/).filter(isMixed);
  if (PREFIX.test(word)) return word[2] === "-" || mixed.some(({ length }) => length >= 8);
  if (word.length < LEAST_CHARS || !isMixed(word)) return false;
  return !/^\w+$/.test(word) || mixed.some(({ length }) => length >= MIXED_CHARS);
}

/** Pure. What of a command line's first word may be shown. */
export const shownWord = (word: string): string =>
  looksLikeKey(word) ? `${word.slice(0, 3)}…` : word;

const isMixed = (text: string): boolean => /[A-Za-z]/.test(text) && /\d/.test(text);
