// Runs `clew doctor`, which says what works, what is odd and what is broken.
import { checkHost } from "../doctor/check-host.ts";
import { checkSessions } from "../doctor/check-sessions.ts";
import type { Finding } from "../doctor/finding.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";

const SIGNS: Record<Finding["level"], string> = {
  ok: "ok     ",
  note: "note   ",
  warning: "warning",
  failure: "FAILURE",
};

/** Exit code 1 when something does not work. */
export async function doctor(
  { fix = false, json = false }: { fix?: boolean; json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const node: Finding = { level: "ok", code: "node", subject: "node", text: process.versions.node };
  const findings = [
    node,
    ...(await checkHost(environment, { fix })),
    ...(await checkSessions({ home: environment.home, fix })),
  ];
  if (json) output.json({ findings });
  else
    for (const { level, subject, text } of findings)
      output.line(printable(`${SIGNS[level]}  ${subject}: ${text}`));
  return findings.some(({ level }) => level === "failure") ? 1 : 0;
}
