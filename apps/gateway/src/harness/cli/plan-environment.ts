// What a program that is started once per turn may see of the gateway's environment.

const ALLOWED: ReadonlySet<string> = new Set([
  ...["PATH", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ", "USER", "LOGNAME", "SHELL"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"],
]);

/** Pure. `own` wins; `named` are those that the settings let through. */
export function planCliEnvironment(
  given: NodeJS.ProcessEnv,
  named: readonly string[],
  own: Record<string, string>,
): Record<string, string> {
  const kept = Object.entries(given).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      (ALLOWED.has(entry[0]) || entry[0].startsWith("LC_") || named.includes(entry[0])),
  );
  return { ...Object.fromEntries(kept), ...own };
}
