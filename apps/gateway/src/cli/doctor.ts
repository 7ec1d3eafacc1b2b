// Runs `clew doctor`, which says what works, what is odd and what is broken.
import { loadConfig } from "../config/load.ts";
import { secretsIn } from "../config/secret-names.ts";
import { checkHost } from "../doctor/check-host.ts";
import { checkSessions } from "../doctor/check-sessions.ts";
import type { Finding } from "../doctor/finding.ts";
import { hider } from "../log/log.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";

const SIGNS: Record<Finding["level"], string> = {
  ok: "ok     ",
  note: "note   ",
  warning: "warning",
  failure: "FAILURE",
};

/** What servers and plugins say may quote them. */
const knownSecrets = (environment: Shell["environment"]): Promise<string[]> =>
  loadConfig(environment.configFile).then(
    ({ raw }) => secretsIn(raw, environment),
    () => [],
  );

/** Exit code 1 when something does not work. */
export async function doctor(
  { fix = false, json = false }: { fix?: boolean; json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const node: Finding = { level: "ok", code: "node", subject: "node", text: process.versions.node };
  const found = [
    node,
    ...(await checkHost(environment, { fix })),
    ...(await checkSessions({ home: environment.home, fix })),
  ];
  const hide = hider(await knownSecrets(environment));
  const findings = found.map((finding) => ({ ...finding, text: hide(finding.text) }));
  if (json) output.json({ findings });
  else
    for (const { level, subject, text } of findings)
      output.line(printable(`${SIGNS[level]}  ${subject}: ${text}`));
  return findings.some(({ level }) => level === "failure") ? 1 : 0;
}
