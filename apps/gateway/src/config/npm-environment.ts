// Which variables of the environment npm is given.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

type Variables = Readonly<Record<string, string | undefined>>;

/** What programs need to run at all, and to reach the network. */
const KEPT =
  /^(?:path|pathext|home|user|logname|userprofile|appdata|localappdata|systemroot|windir|comspec|temp|tmp|tmpdir|lang|lc_.*|(?:https?|all|no)_proxy|ssl_cert_(?:file|dir)|node_extra_ca_certs|npm_config_.*)$/i;

/**
 * Pure. A key of the person's is none of npm's business, and a package could ask npm to send it
 * along; what the person's own `.npmrc` names in `${NAME}` is.
 */
export function planNpmEnvironment(variables: Variables, npmrc: string): Record<string, string> {
  const named = new Set([...npmrc.matchAll(/\$\{([^}?]+)\??\}/g)].map(([, name]) => name));
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) =>
      value !== undefined && (KEPT.test(name) || named.has(name)) ? [[name, value]] : [],
    ),
  );
}

/** The text of the person's own `.npmrc`; "" when there is none. */
export function readOwnNpmrc(variables: Variables): string {
  const configured = Object.entries(variables).find(
    ([name]) => name.toLowerCase() === "npm_config_userconfig",
  )?.[1];
  try {
    return readFileSync(configured ?? join(homedir(), ".npmrc"), "utf8");
  } catch {
    return "";
  }
}
