// Whether the version of Codex that answered speaks as is spoken here.
import { OLDEST_CODEX } from "./protocol.ts";

/** Pure. From "clew/0.169.0 (Debian 12; x86_64) …"; undefined: it does not say. */
export const versionIn = (userAgent: string): string | undefined =>
  /^[^/]*\/(\d+\.\d+\.\d+)/.exec(userAgent)?.[1];

/** Pure. */
export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_CODEX.split(".").map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}
