// The session in the page's address, so that a reload or a bookmark comes back to it.
import { shortName } from "../src/sessions/keys.ts";

const DEFAULT_SESSION = "main";

/** From the part after "#"; what cannot be read means the default session. */
export function sessionInHash(hash: string): string {
  try {
    return decodeURIComponent(hash.replace(/^#/, "")) || DEFAULT_SESSION;
  } catch {
    return DEFAULT_SESSION;
  }
}

export function hashOfSession(key: string): string {
  return `#${encodeURIComponent(shortName(key))}`;
}
