// `clew doctor`: what works, what is odd, what is broken, each with the next step.
import { readEnvironment } from "../config/environment.ts";
import { checkHost } from "../doctor/check-host.ts";
import { checkSessions } from "../doctor/check-sessions.ts";
import type { Finding } from "../doctor/finding.ts";
import { printable, terminal } from "../terminal/output.ts";

const SIGNS: Record<Finding["level"], string> = {
  ok: "ok     ",
  note: "note   ",
  warning: "warning",
  failure: "FAILURE",
};

/** Exit code 1 when something does not work. */
export async function doctor({
  fix = false,
  json = false,
}: {
  fix?: boolean;
  json?: boolean;
}): Promise<number> {
  const environment = readEnvironment();
  const node: Finding = { level: "ok", subject: "node", text: process.versions.node };
  const findings = [
    node,
    ...(await checkHost(environment, { fix })),
    ...(await checkSessions({ home: environment.home, fix })),
  ];
  if (json) terminal.json({ findings });
  else
    for (const { level, subject, text } of findings)
      terminal.line(printable(`${SIGNS[level]}  ${subject}: ${text}`));
  return findings.some(({ level }) => level === "failure") ? 1 : 0;
}
