// What plugins get as `openclaw/plugin-sdk/logging-core`.

const MASK = "***";

/**
 * Each keeps what stands before the secret, so that a reader still sees what
 * kind of thing was there.
 */
const RULES: readonly [pattern: RegExp, replacement: string][] = [
  [
    /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    `-----PRIVATE KEY ${MASK}-----`,
  ],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${MASK}`],
  [/\b(https?:\/\/[^\s:/@]+:)[^\s@/]+@/gi, `$1${MASK}@`],
  [
    /\b(sk|pk|rk|ghp|gho|ghu|ghs|github_pat|glpat|xox[abprs]|AKIA|AIza|npm)([-_]?)[A-Za-z0-9_-]{12,}/g,
    `$1$2${MASK}`,
  ],
  [/\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*/g, `eyJ${MASK}`],
  [
    /((?:api[-_ ]?key|access[-_]?token|refresh[-_]?token|auth[-_]?token|token|secret|passwd|password|authorization)["']?\s*[:=]\s*["']?)(?!(?:Bearer|Basic)\b)[^\s"',;}&]{4,}/gi,
    `$1${MASK}`,
  ],
];

/**
 * Pure. Masks keys, tokens, passwords and private keys by their usual forms;
 * other text stays as it is.
 */
export function redactSensitiveText(text: string): string {
  return RULES.reduce(
    (result, [pattern, replacement]) => result.replace(pattern, replacement),
    String(text),
  );
}
