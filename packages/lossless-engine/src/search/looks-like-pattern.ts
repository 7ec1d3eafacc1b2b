// Decides whether what somebody looks for is meant as a regular expression.

/** What hardly stands in plain words: \d, .*, a|b, [a-z], [ab]+, (?:a), a{2}, \. */
const SIGNS = [
  /\\[dDwWsSbB.()[\]{}*+?^$|]/,
  /\.[*+?]/,
  /\S\|\S/,
  /\[[^\]]*\w-\w[^\]]*\]/,
  /\[[^\]]+\][*+{]/,
  /\(\?:/,
  /[\w)\]]\{\d+(?:,\d*)?\}/,
  /\w\)[*+]/,
];

/** "[ERROR] failed" and "what is it?" are words; "db_\w+" and "KEY|db_.*port" are not. */
export const looksLikePattern = (query: string): boolean => SIGNS.some((sign) => sign.test(query));
