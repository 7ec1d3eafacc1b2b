// Runs `clew doctor`, which says what works, what is odd and what is broken.
import { loadConfig } from "../config/load.ts";
import { secretsIn } from "../config/secret-names.ts";
import { checkHost } from "../doctor/check-host.ts";
import { checkSessions } from "../doctor/check-sessions.ts";
import type { Finding } from "../doctor/finding.ts";
import { hider } from "../log/log.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { interruptible } from "./interruptible.ts";
import { asCalled, ownCommand } from "./own-command.ts";

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

const keepsInDatabase = (environment: Shell["environment"]): Promise<boolean> =>
  loadConfig(environment.configFile).then(
    ({ config }) => config.storage.driver !== "files",
    () => false,
  );

/** Exit code 1 when something does not work, once what can be is repaired. */
export async function doctor(
  { fix = false, json = false }: { fix?: boolean; json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const looked = await look(environment, output, fix);
  const repairs = looked.filter(({ isRepair }) => isRepair);
  // What was repaired may have been the reason of something else.
  const found = repairs.length === 0 ? looked : await look(environment, output, false);
  const hide = hider(await knownSecrets(environment));
  const command = ownCommand(import.meta.dirname, environment);
  const hidden = (finding: Finding) => ({
    ...finding,
    text: asCalled(hide(finding.text), command),
  });
  const [repaired, findings] = [repairs.map(hidden), found.map(hidden)];
  if (json) output.json(fix ? { repaired, findings } : { findings });
  else {
    for (const { subject, text } of repaired)
      output.line(printable(`repaired ${subject}: ${text}`));
    if (fix && repaired.length === 0) output.line("There was nothing to repair.");
    for (const { level, subject, text } of findings)
      output.line(printable(`${SIGNS[level]}  ${subject}: ${text}`));
  }
  return findings.some(({ level }) => level === "failure") ? 1 : 0;
}

const NODE: Finding = { level: "ok", code: "node", subject: "node", text: process.versions.node };

/** Ctrl-C ends it between two things that are looked at; a repair that has begun is finished. */
const look = (
  environment: Shell["environment"],
  output: Shell["output"],
  fix: boolean,
): Promise<Finding[]> =>
  interruptible(output, async ({ signal, says }) => {
    says("looking at settings, engine and model");
    const host = await checkHost(environment, { fix });
    signal.throwIfAborted();
    says("looking at the session files");
    const areInDatabase = await keepsInDatabase(environment);
    const sessions = await checkSessions({ home: environment.home, fix, areInDatabase, signal });
    return [NODE, ...host, ...sessions];
  });
